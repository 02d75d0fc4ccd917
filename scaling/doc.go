// Package scaling says what training costs, and what more of it would cost.
//
// Package timing below it takes the times: of a step of POLK by the size n of the
// mini-batch, the model order M, the features p and the classes C ([Step], on the
// configurations of [Grid]), and of a training by the number N of samples, of the
// online methods and of the batch methods ([Growth]). [FitPower] turns either into
// exponents. [Rates] takes from the records of runs what a sample costs them once
// their model order has settled, and [Makespan] how long many runs take on so many
// cores. [Costs] has all of it, as tables.
//
// Times are of one thread and of the machine that they were measured on; nothing
// else runs on it, or they are too long.
package scaling
