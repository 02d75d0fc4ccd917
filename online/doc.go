// Package online trains POLK on a user's own data as they come: LIBSVM or CSV,
// from a file or from standard input without end.
//
// [Train] reads the first rows, the head, and takes from them what it was not
// told: features, classes, scaling and bandwidth. Rows then go through the
// learner in mini-batches and are gone; memory is bounded by the model's order
// and a few thousand rows, however long the stream. A [Model] that is saved in
// mid-stream, read again and trained on goes on bit for bit as if it had never
// stopped.
package online
