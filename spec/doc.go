// Package spec reads declarative experiment specs in YAML, checks them, and plans the runs that they
// describe. Package experiments has the specs that are part of the program.
//
// # Specs
//
// A spec names data, task, methods with their hyper-parameters, repetitions,
// stopping and evaluation, and which table cells and figures the runs feed:
//
//	include: [base/common.yaml]         # merged key by key; this file overrides them
//	name: sample
//	title: POLK and BSGD on multidist
//	task: ksvm                          # or klr
//	data: {name: multidist, variant: calibrated}
//	kernel: {type: gaussian, bandwidth: 0.6}
//	methods:
//	  - method: polk
//	    learning_rate: 6
//	    grid: {parsimony: [1e-4, 0.04]} # any hyper-parameters; all combinations are run
//	    figures: ["2"]                  # fed by all points of the grid
//	    points:                         # settings of some points of the grid
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
//	profiles:                           # differences in smoke, quick, full
//	  smoke: {stopping: {epochs: 1}, repeats: [{draws: figure, seeds: 1}]}
//
// A file can hold several specs. Where data or task is a list, each combination is a spec called
// NAME-DATA-TASK; methods that do not fit a task of a list are left out of it. Variants are specs
// NAME-VARIANT with other keys, and exclude leaves out combinations or methods of them:
//
//	name: sweep
//	task: [ksvm, klr]
//	data: [{train: a.csv, label: y, holdout: 0.2}, {train: b.csv, label: y, holdout: 0.2}]
//	variants:
//	  narrow: {kernel: {bandwidth: 0.5}}
//	  wide: {kernel: {bandwidth: 2}, repeats: null}  # null removes an inherited key
//	exclude: [{data: b, task: klr}]
//
// A list in a file replaces the list of a file that it includes; add_methods appends to it.
//
// The types in internal/doc document the keys; schema.json, generated from them,
// documents them for editors, which find it by a file's line "# yaml-language-server: $schema=PATH". The hyper-parameters that a method takes and their
// ranges are in the table that [Methods] returns. One point of one grid feeds a
// table cell, with all its seeds and draws. Only embedded specs feed cells and
// figures: a copy, such as one with another setting, does not ([Spec.Apart]).
//
// The parser is strict. Unknown and duplicate keys, wrong types, values out of
// range, a method that does not fit the task, an unknown table cell and the like
// are errors. The parser reports as many errors at once as it can find, each with
// file, line and column.
//
// # Runs
//
// A [Run] holds everything that determines a result; [ID] is its identity.
// [Run.Problems] is the only set of rules for runs; it reports each invalid setting by
// its path. [Spec.Plan] lists the runs of a spec in a profile. A spec with the key compare is a
// [Comparison] of pruning heuristics.
package spec
