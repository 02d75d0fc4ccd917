//go:build openblas && cgo

package openblas

/*
#cgo LDFLAGS: -lopenblas
#cgo noescape cblas_sgemm
#cgo nocallback cblas_sgemm
#cgo noescape cblas_dgemm
#cgo nocallback cblas_dgemm

void openblas_set_num_threads(int n);
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k,
	float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k,
	double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
*/
import "C"

const rowMajor, noTrans, trans = 101, 111, 112

func init() { SetThreads(1) }

// SetThreads sets the number of threads of later calls, which is initially 1. The setting belongs to
// the library, and so to the whole process. Do not call SetThreads while a product is being computed.
func SetThreads(n int) { C.openblas_set_num_threads(C.int(n)) }

// MulABT computes C ← α·A·Bᵀ + β·C for non-empty row-major A (m×k, row stride
// lda), B (n×k, ldb) and C (m×n, ldc), which the caller has checked.
func MulABT[T Float](m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	switch c := any(c).(type) {
	case []float32:
		a, b := any(a).([]float32), any(b).([]float32)
		C.cblas_sgemm(rowMajor, noTrans, trans, C.int(m), C.int(n), C.int(k),
			C.float(alpha), (*C.float)(&a[0]), C.int(lda), (*C.float)(&b[0]), C.int(ldb),
			C.float(beta), (*C.float)(&c[0]), C.int(ldc))
	case []float64:
		a, b := any(a).([]float64), any(b).([]float64)
		C.cblas_dgemm(rowMajor, noTrans, trans, C.int(m), C.int(n), C.int(k),
			C.double(alpha), (*C.double)(&a[0]), C.int(lda), (*C.double)(&b[0]), C.int(ldb),
			C.double(beta), (*C.double)(&c[0]), C.int(ldc))
	}
}
