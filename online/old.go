package online

import "strconv"

// Models that were begun before version 3 of the format were made by programs that
// computed the inverse kernel matrix afresh at anchors, see format2.go, that rounded
// features to float32 before they scaled them, and to which labels that
// are the same number were the same class, written as short as can be: 1e+06 for
// 1000000. Such a model keeps to that, for its rows and classes were read so: it
// predicts what it predicted and goes on bit for bit.

// old reports whether the model is one of these. It is one whichever version of the
// format has held it since: it has anchors.
func (m *Model) old() bool { return m.sinceAnchor != nil }

// oldLabel returns the label of those programs.
func oldLabel(label string) string {
	if v, err := strconv.ParseFloat(label, 64); err == nil {
		return strconv.FormatFloat(v+0, 'g', -1, 64)
	}
	return label
}
