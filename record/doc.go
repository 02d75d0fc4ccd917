// Package record defines, writes and reads the records of runs.
//
// A record is one JSONL file: a header (Header), a line for every evaluation
// (Point), and a last line (Final) that seals it. While the run lasts the file
// is named ID.jsonl.partial; sealing it renames it to ID.jsonl. A run that
// failed ends with a Failure instead and is named ID.failed.jsonl. A .partial file
// belongs to a killed or still running process and is never read as a record.
//
// [Create] begins a record and [ReadDir] reads a folder of records; the example of
// ReadDir shows both. [CSV] writes them as a data frame for other programs. The package
// does not train. Any number of processes may read a folder while others write records
// into it.
//
// # Digest and sum
//
// The digest in the last line is the SHA-256 of the deterministic contents of the
// record (see [Canonical]): two executions of a run have the same digest, whatever
// the time, the machine and the speed. The sum, the very last field, is the SHA-256
// of the file's bytes before the sum's first digit: a file that was truncated or
// changed in any byte is rejected. A record with the right sums is rejected too if no
// run can leave it: its ID is not that of its run, its last point is not at the end of
// the run, the last line is not the [Average] of the points, or a figure is out of its
// range. Figures that were made up and fit each other are not noticed.
//
// # Diagnostics
//
// Beside the paper's figures, a point and the last line have these diagnostics where
// they apply ([Diagnostics]):
//
//   - norm_sq is Σ_c‖f_c‖², from which the risk with any other penalty follows.
//   - prequential is the loss and error on a stream's samples so far, each scored before
//     its mini-batch was learned.
//   - reliability is the log loss and calibration of a logistic model on the test set;
//     the last line also has the bins of its diagram.
//
// The digest covers the diagnostics. Older records lack them.
//
// # Numbers that are not finite
//
// The risk of a learner that diverges is +Inf or NaN, which is a valid result. JSON
// has no such numbers: they are written as the strings "NaN", "+Inf" and "-Inf" (see
// [Float]) and read back as numbers.
package record
