package harness

// An EpochRule says how many epochs are enough, which the paper does not.
// The zero value is ready.
type EpochRule struct {
	Gain    float64 // validation error (a fraction) worth going on for; default 0.001, a tenth of a point
	Confirm int     // epochs that must follow for the rule to speak; default 2
}

func (r EpochRule) withDefaults() EpochRule {
	if r.Gain == 0 {
		r.Gain = 0.001
	}
	if r.Confirm == 0 {
		r.Confirm = 2
	}
	return r
}

// Choose returns the fewest epochs E after which the mean validation error of
// the following epochs is less than Gain below that of epoch E: training on
// would gain nothing that shows in a table. The curve holds the validation
// error after epochs 1, 2, …, averaged over draws and seeds. If not even the
// last E that Confirm epochs follow satisfies the rule, the curve is too short:
// Choose returns its length and false.
func (r EpochRule) Choose(curve []float64) (epochs int, settled bool) {
	r = r.withDefaults()
	for e := 1; e+r.Confirm <= len(curve); e++ {
		var following float64
		for _, v := range curve[e:] {
			following += v
		}
		following /= float64(len(curve) - e)
		if curve[e-1]-following < r.Gain {
			return e, true
		}
	}
	return len(curve), false
}
