package report

import (
	"maps"
	"slices"
	"strings"
)

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// sentence joins parts with commas.
func sentence(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

// appendNew appends a value that is not among values.
func appendNew[T comparable](values []T, v T) []T {
	if slices.Contains(values, v) {
		return values
	}
	return append(values, v)
}
