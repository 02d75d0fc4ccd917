// Package lbfgs trains the batch kernel machine of the POLK paper's tables. Over all expansions
// on the N training points, it minimizes
//
//	P(f) = (1/N) Σ_i ℓ(f(x_i), y_i) + (λ/2) Σ_c ‖f_c‖²
//
// by L-BFGS (Nocedal, "Updating quasi-Newton matrices with limited storage", 1980). The loss is
// the multi-class hinge or the multinomial logistic loss (paper eqs. multi_svm and
// multi_logistic). The result has a certificate: an upper bound of P(f) − min P.
//
// # When to prefer it
//
// To find out how good any model on the data can be: Gap bounds the distance of the result from
// the minimum. The method is the most accurate one here (1.4 % error on MNIST). It keeps all N
// points, so that a prediction costs N·p. Package nystrom minimizes the same objective on fewer
// points (2.3 % with 1,086 of them).
//
// The kernel matrix costs N²·p multiply-adds, an iteration N²·C, or a tenth of that with the
// hinge once most samples are outside the margin. Memory is 4·N² to 8·N² bytes: 14 GB for 60,000
// samples. The result of [Train] depends only on its arguments: it is bit-identical on every
// machine and for any number of threads. Train may be called from several goroutines at once.
//
// # The inner product
//
// The method runs in the Hilbert space: steps, gradients and inner products are those of
// functions. The gradient ∇P = Σ_i (u_i/N + λα_i) κ(x_i, ·) with u_i = ∂ℓ needs no solve. Its
// condition number is that of the covariance operator plus λ, not its square as for gradients in
// the weights α, which contain another factor K. A function is stored as its weights and their
// image under K. So an iteration takes one product with K, of the loss gradients, and a line
// search takes none. gonum/optimize supports only the Euclidean inner product. There, the same
// method needs the variables Lᵀα of a Cholesky factor K = LLᵀ, which a Gaussian K of many points
// does not have in floating point.
//
// [Weights] uses the Euclidean inner product of the weights α, as the paper writes the problem.
// It is slow and has no certificate: use [Train] instead. [TrainLinear] uses the Euclidean inner
// product of linear models on explicit features, for package nystrom.
//
// # The hinge
//
// The hinge has kinks, where L-BFGS does not converge. It is replaced by its Moreau envelope ℓ_μ,
// a smooth function with ℓ − μ ≤ ℓ_μ ≤ ℓ. Whenever μ causes most of the gap that the
// certificate shows, μ is reduced. Objectives and gaps are always those of ℓ itself.
//
// At samples outside the margin the gradient is exactly 0. Train sets most of them aside and
// iterates on the others with their part of K, as decomposition methods shrink the dual
// (Joachims, "Making large-scale SVM learning practical", 1999). The weights set aside keep their
// proportions, because the gradient there is λf. All samples are scored at intervals and before
// the run ends, and the certificate covers all samples.
//
// # The certificate
//
// Any u in the domain of ℓ* bounds min P from below by the dual objective D(u). The gradient of
// ℓ_μ is such a point, at no further cost. For a smooth ℓ, P(f) − D(∇ℓ(f)) = ‖∇P(f)‖²/(2λ), the
// bound that strong convexity gives. With λ = 1e-6 this bound is loose: it was seen 500 times
// larger than the bound from a running mean of the iterates' dual points, which Train uses.
//
// Up to N = 8,192 the kernel matrix is stored in float64, above that in float32, with products
// summed in float64 over blocks of 2,048 columns. The objective and the gap of the result are
// re-evaluated, with kernel values, products and sums in float64. So the gap includes the effect
// of float32 on the iterations. It excludes only rounding in float64.
package lbfgs
