// Package lists finds elements of slices.
package lists

// Find returns the first element for which is returns true, or nil.
func Find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
