package online

import "strconv"

// Models that versions 1 and 2 of the format hold were made by programs that
// rounded features to float32 before they scaled them, and to which labels that
// are the same number were the same class, written as short as can be: 1e+06 for
// 1000000. Such a model keeps to that, for its rows and classes were read so: it
// predicts what it predicted and goes on bit for bit.

// oldLabel returns the label of those programs.
func oldLabel(label string) string {
	if v, err := strconv.ParseFloat(label, 64); err == nil {
		return strconv.FormatFloat(v+0, 'g', -1, 64)
	}
	return label
}
