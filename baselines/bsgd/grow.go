package bsgd

// grow returns b with length n, contents undefined; it allocates ahead.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n, n+n/2)
	}
	return b[:n]
}
