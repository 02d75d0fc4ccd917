// Package experiments holds the experiments: declarative specs in YAML, what
// they may say, the runs they amount to, and what the paper prints for them.
//
// # Specs
//
// A spec names data, task, methods with their hyper-parameters, repetitions,
// stopping and evaluation, and which table cells and figures the runs feed:
//
//	include: [base/common.yaml]         # merged key by key, this file over them
//	name: sample
//	title: POLK and BSGD on multidist
//	task: ksvm                          # or klr
//	data: {name: multidist, variant: calibrated}
//	kernel: {type: gaussian, bandwidth: 0.6}
//	methods:
//	  - method: polk
//	    learning_rate: 6
//	    grid: {parsimony: [1e-4, 0.04]} # any hyper-parameters, each with each
//	    figures: ["2"]                  # fed by all points of the grid
//	    points:                         # what is particular to some of them
//	      - at: {parsimony: 0.04}
//	        cells: [table2.multidist.ksvm.polk]
//	        expected_order: 16
//	  - method: bsgd
//	    budget: 16
//	    series: "BSGD with {budget}"    # in place of the automatic name
//	sampling: epochs                    # or replacement
//	repeats:
//	  - {draws: calibrated, count: 20, seeds: 1, feeds: cells}
//	  - {draws: figure, seeds: 5, feeds: figures}
//	stopping: {epochs: 10}
//	evaluation: {every: 320, tail: 10, train_limit: 0}
//	                                    # or {minimizer: true, train_limit: 0}: see [Evaluation]
//	profiles:                           # what is different in smoke, quick, full
//	  smoke: {stopping: {epochs: 1}, repeats: [{draws: figure, seeds: 1}]}
//
// The types in internal/doc say what each key means; schema.json, made from
// them, says it to editors. The hyper-parameters that a method takes and their
// ranges are in the table that [Methods] returns. A table cell is fed by one
// point of one grid; all its seeds and draws count for it.
//
// The parser is strict. Unknown and duplicate keys, wrong types, values out of
// range, a method that does not fit the task, a cell the paper doesn't have and
// the like are errors, as many at once as can be found, each with file, line,
// column and the line itself.
//
// # Runs
//
// A [Run] is all that determines a result; [ID] is its identity. [Run.Problems] is
// the one set of rules for runs, and says what is wrong by the path of the setting.
// [Spec.Plan] lists the runs of a spec in a profile. A [Tournament] expands into specs.
//
// # The paper
//
// [Paper] returns the cells of the paper's tables as printed, their layout, and
// what its figures show and state in numbers.
package experiments
