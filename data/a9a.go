package data

import "polkrepro/data/rows"

// Adult in LIBSVM's coding (Kohavi 1996; Platt 1998): 123 features that are 0 or 1, most of them 0.
// Class 1 earns more than 50,000 dollars a year.
func init() {
	register("a9a", code{load: loadRows(',', rows.Options{Format: rows.FormatLIBSVM}, []string{"-1", "1"}, 1)})
}
