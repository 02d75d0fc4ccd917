// Package export opens results folders and passes on what their records hold.
//
// [Open] reads a folder's records and plans the runs that they belong to. The
// [Folder] has what the claims are judged by and the [Report], whose tables, figures
// and page can be written. [Reference] makes a folder of the records in others, with
// the tables, figures and verdicts that follow from them, and [Seal] seals it.
//
// For the tools that people have, the package writes a data frame of all evaluations
// as CSV, named as benchopt names its own, and the paper's tables as a LaTeX document that
// compiles.
//
// # Columns
//
// The data frame has a row for every evaluation of every finished run. Its
// columns are those of a benchopt result file (benchopt 1.8 and newer, where the
// data set's column is dataset_name), with the meanings:
//
//	objective_name          task with its parameters: ksvm[kernel_bandwidth=0.6,…]
//	solver_name             method with its parameters: polk[batch_size=32,…]
//	dataset_name            data set with variant and draw: multidist[draw=36,…]
//	idx_rep                 seed of the order in which the stream visits the data
//	sampling_strategy       Callback: the curve of one training
//	stop_val                training samples processed, counting every visit
//	time                    seconds of training so far, evaluations left out
//	objective_value         training risk R(f), the mean loss + λ/2 Σ‖f_c‖²
//	objective_test_risk     the same on the test set
//	objective_test_error    fraction of the test set misclassified
//	objective_model_order   elements of the dictionary
//	objective_kernel_evals  kernel evaluations so far
//	objective_numbers_kept  numbers that a learner of a stream keeps at this model order
//	objective_norm_sq       Σ‖f_c‖²
//	objective_prequential_loss, objective_prequential_error
//	                        mean loss, without a regularizer, and error of a stream's samples
//	                        so far, each scored before its mini-batch was learned
//	objective_log_loss, objective_calibration_error
//	                        of a logistic model on the test set
//	objective_*             all else that was measured, named as in package evidence/theory
//	p_obj_*                 parameters of the objective: kernel and λ
//	p_solver_*              all other parameters of the run; p_solver_pruner is komp by default
//	p_dataset_*             variant and draw
//	time_cpu                processor time of the training thread so far, seconds
//	time_process            of time, what training has waited for a pruner's own process
//	run_id, run_date        the record and when its run began
//	run_code                versions of the code that the run is of: runs of an edited heuristic
//	                        differ in nothing else
//	benchmark-git-tag       revision of the program
//	platform, platform-architecture, system-cpus, system-processor
//
// What a run does not have is empty: the risks of a method without scores, a parameter
// that is zero because the method does not take it, the numbers kept by a batch method,
// what was not measured. A figure that is not finite is NaN, +Inf or -Inf.
package export
