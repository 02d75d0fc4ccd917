// Package lbfgs is the batch kernel machine of the POLK paper's tables: the
// minimizer over all expansions on the N training points of
//
//	P(f) = (1/N) Σ_i ℓ(f(x_i), y_i) + (λ/2) Σ_c ‖f_c‖²
//
// by L-BFGS (Nocedal, "Updating quasi-Newton matrices with limited storage",
// 1980), for the multi-class hinge and the multinomial logistic loss (paper
// eqs. multi_svm and multi_logistic), with a certificate: an upper bound of
// P(f) − min P.
//
// # When to prefer it
//
// To know how good any model on these data can be: Gap says how far from the
// minimum the result is. It is the most accurate method here (1.4 % error on
// MNIST) and keeps all N points, so that a prediction costs N·p. Package nystrom
// minimizes the same objective on fewer points (2.3 % with 1,086 of them).
//
// N²·p multiply-adds for the kernel matrix, N²·C an iteration, a tenth of that with
// the hinge once most samples are outside of the margin; 4·N² to 8·N² bytes:
// 14 GB for 60,000 samples. [Train] is a function of its arguments, bit for bit on
// every machine whatever the number of threads, and may be called from several
// goroutines at once.
//
// # The inner product
//
// The method runs in the Hilbert space: steps, gradients and inner products
// are those of functions. The gradient ∇P = Σ_i (u_i/N + λα_i) κ(x_i, ·) with
// u_i = ∂ℓ needs no solve, its condition is that of the covariance operator
// plus λ, and not its square as for gradients in the weights α, which carry
// another factor K. A function is kept as its weights and their image under
// K, so that an iteration takes one product with K, of the loss gradients,
// and the line search none. gonum/optimize has the Euclidean inner product
// alone: with it the same method needs the variables Lᵀα of a Cholesky factor
// K = LLᵀ, which a Gaussian K of many points does not have in floating point.
//
// [Weights] has the Euclidean inner product of the weights α all the same, as the
// paper writes the problem. It is slow and has no certificate: [Train] is the one to use.
// [TrainLinear] has that of linear models on explicit features, for package nystrom.
//
// # The hinge
//
// It has kinks, which L-BFGS does not converge on. In its place stands the
// Moreau envelope ℓ_μ, a smooth function with ℓ − μ ≤ ℓ_μ ≤ ℓ. Whenever the
// gap below is mostly μ's doing, μ becomes smaller. Objectives and gaps are
// always those of ℓ itself.
//
// At samples outside of the margin the gradient is exactly 0. Train sets most of them
// aside and iterates on the others with their part of K, as decomposition methods
// shrink the dual (Joachims, "Making large-scale SVM learning practical", 1999). The
// weights set aside keep their proportions: the gradient there is λf. All samples are
// scored at intervals and before the run ends, and the certificate is one for all.
//
// # The certificate
//
// Any u in the domain of ℓ* bounds min P from below by the dual objective
// D(u). The gradient of ℓ_μ is such a point, at no further cost. For a smooth ℓ,
// P(f) − D(∇ℓ(f)) = ‖∇P(f)‖²/(2λ), the bound that strong convexity gives. With
// λ = 1e-6 that is loose: it was seen 500 times larger than that of a running
// mean of the iterates' dual points, which is what Train uses.
//
// Up to N = 8,192 the kernel matrix is kept in float64, above in float32,
// with products summed in float64 over blocks of 2,048 columns. The objective
// and the gap of the result are re-evaluated, with kernel values, products
// and sums in float64: what float32 did to the iterations is inside the gap.
// Only rounding in float64 is not.
package lbfgs
