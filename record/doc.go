// Package record defines what a run leaves behind and reads it back.
//
// A record is one JSONL file: a header (Header), a line for every evaluation
// (Point), and a last line (Final) that seals it. While the run lasts the file
// is named ID.jsonl.partial; sealing it renames it to ID.jsonl. A run that
// failed ends with a Failure instead and is named ID.failed.jsonl. So a file
// named .partial is what a killed or still running process left, and is never
// read as a record.
//
// [ReadDir] reads a folder of records, [Create] begins one; nothing here trains.
// The example of ReadDir does both. Folders may be read by any number of
// processes while others write records into them.
//
// # Two sums
//
// The digest in the last line is the SHA-256 of all that is deterministic in
// the record (see [Canonical]): two executions of a run have the
// same digest, whenever, wherever and however fast they ran. The sum,
// the very last field, is the SHA-256 of the file's bytes up to the sum's own
// first digit: a truncated file, or one with any byte changed, is not read.
//
// # Diagnostics
//
// Beside the paper's figures a point and the last line have, where it applies
// ([Diagnostics]): norm_sq, Σ_c‖f_c‖², from which the risk with any other penalty follows;
// prequential, loss and error of a stream's samples so far, each scored before its
// mini-batch was learned; and reliability, log loss and calibration of a logistic model on
// the test set, with the bins of its diagram in the last line. They belong to the digest.
// Older records have none of them.
//
// # Numbers that are not finite
//
// A learner that diverges has a risk of +Inf or NaN, and that is a result.
// JSON has no such numbers: they are written as the strings "NaN", "+Inf" and
// "-Inf" (see [Float]), and read back as what they were.
package record
