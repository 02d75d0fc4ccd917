package report

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// longestLine is what fits of a foreign message in a line of a report.
const longestLine = 320

// oneLine makes one line of a message that this package did not write.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	return shorten(s, longestLine)
}

// shorten cuts s to at most n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

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
