// Package csvc is C-SVC, the support vector classifier, as LIBSVM defines and
// trains it: C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector
// machines", ACM TIST 2 (2011). It is the batch baseline that the POLK paper
// calls LIBSVM ("Experiments").
//
// Each pair of classes is a separate problem, with one class labelled +1 and the other −1, and
// the trained pairs vote. [Config].OneVsAll, which LIBSVM does not have, sets each class against
// all others. The n points of a problem have the dual problem
//
//	min ½ αᵀQα − eᵀα   subject to 0 ≤ α ≤ C and yᵀα = 0,   Q_ij = y_i y_j κ(x_i, x_j)
//
// It is solved by sequential minimal optimization with shrinking, until no two variables violate
// the optimality conditions by ε or more. The pairs of variables are chosen by second-order
// information (R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order
// information for training support vector machines", JMLR 6 (2005), WSS 2).
//
// # When to prefer it
//
// For an accurate model of data that fit into memory, without choosing a loss or a schedule: 1.4
// to 1.5 % error on MNIST. The model predicts classes, not probabilities. It has many support
// vectors (16,000 of 60,000 there), and a prediction costs as many kernel values.
//
// Time grows between N² and N³ with the size N of a pair of classes (Bottou and Lin, below).
// Memory is [Config].CacheBytes for each of Threads pairs, and 16·p bytes per point. The result
// of [Train] depends only on its arguments: it is bit-identical on every machine and for any
// number of threads. Train may be called from several goroutines at once.
//
// # Form
//
// The code works with β_i = y_i α_i and v_i = y_i − Σ_j β_j κ(x_i, x_j), which is −y_i ∇_i of the
// dual (L. Bottou, C.-J. Lin, "Support vector machine solvers", 2007). Raising β_i and lowering
// β_j by δ > 0 lowers the dual, to first order, by δ(v_i − v_j), and v is computed from rows of
// the kernel matrix without signs. Let I_up be the points whose β can rise and I_low the points
// whose β can fall. The optimality conditions are
//
//	m = max {v_i : i ∈ I_up}  ≤  M = min {v_j : j ∈ I_low}.
//
// # Kernel rows
//
// Rows are float32, as in LIBSVM; v is float64. A cache of bounded size keeps the rows and drops
// the least recently used row first. Computing a single row is bound by reading memory, so a
// missing row is computed together with the rows of the points that violate the conditions most,
// which are the likeliest to be needed next. The bits of a value do not depend on which rows are
// computed together, so neither the size of the cache nor the number of threads changes the
// result.
//
// # Certificate
//
// [PairStats] holds m − M and the duality gap of every pair, over all its
// points.
package csvc
