// Package csvc is C-SVC, the support vector classifier, as LIBSVM defines and
// trains it: C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector
// machines", ACM TIST 2 (2011). It is the batch baseline that the POLK paper
// calls LIBSVM ("Experiments").
//
// Every two classes make a problem of their own, one class +1 and the other
// −1, and the trained pairs vote. [Config].OneVsAll, which LIBSVM does not have, sets
// each class against all others. The n points of a problem have the dual problem
//
//	min ½ αᵀQα − eᵀα   subject to 0 ≤ α ≤ C and yᵀα = 0,   Q_ij = y_i y_j κ(x_i, x_j)
//
// solved by sequential minimal optimization: pairs of variables chosen by
// second-order information (R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set
// selection using second order information for training support vector
// machines", JMLR 6 (2005), WSS 2), with shrinking, until no two variables
// violate the optimality conditions by ε or more.
//
// # When to prefer it
//
// For an accurate model of data that fit into memory, without choosing a loss or
// a schedule: 1.4 to 1.5 % error on MNIST. It gives classes and no probabilities, and
// its support vectors are many (16,000 of 60,000 there): a prediction costs as
// many kernel values.
//
// Time grows between N² and N³ with the size N of a pair of classes (Bottou and
// Lin, below); memory is [Config].CacheBytes for each of Threads pairs and 16·p bytes a point. [Train] is
// a function of its arguments, bit for bit on every machine whatever the number of
// threads, and may be called from several goroutines at once.
//
// # Form
//
// The code works with β_i = y_i α_i and v_i = y_i − Σ_j β_j κ(x_i, x_j), which
// is −y_i ∇_i of the dual (L. Bottou, C.-J. Lin, "Support vector machine
// solvers", 2007). Raising β_i and lowering β_j by δ > 0 lowers the dual at
// first by δ(v_i − v_j), and v follows from rows of the kernel matrix without
// signs. With I_up the points whose β can rise and I_low those whose β can
// fall, the optimality conditions are
//
//	m = max {v_i : i ∈ I_up}  ≤  M = min {v_j : j ∈ I_low}.
//
// # Kernel rows
//
// Rows are float32, as in LIBSVM, and kept in a cache of bounded size, least
// recently used out first; v is float64. A single row is a product as slow as
// memory; therefore a missing row is computed along with those of the points
// that violate the conditions most, the likeliest to be asked for next. A
// value's bits do not depend on what it is computed along with, so neither the
// size of the cache nor the number of threads changes the result.
//
// # Certificate
//
// [PairStats] holds m − M and the duality gap of every pair, over all its
// points.
package csvc
