// Package experiment trains the runs of package convergence: it computes f*,
// draws the samples, takes the steps of POLK or of plain functional stochastic
// gradient descent, and measures distance to f*, risk, model order and, at
// every step, what the projection does to the gradient.
//
// A run is deterministic: the same binary on the same class of machine makes
// the same record, but for the time it took, on any number of workers.
package experiment
