// Package online trains POLK on a user's own data: LIBSVM or CSV rows from a
// file, or from standard input, which may never end.
//
// [Train] reads the first rows, the head, and derives missing settings from
// them: features, classes, scaling and bandwidth. It then learns the rows in
// mini-batches and discards them, so memory is bounded by the model order and a
// few thousand rows, however long the stream. A [Model] that is saved in
// mid-stream, read back and trained further is bit for bit the model of a
// training without the interruption.
package online
