package data

func init() { register("satimage", code{load: loadSatimage}) }

// loadSatimage reads Statlog (Landsat Satellite). The features are 3×3 pixels in four
// spectral bands, from 0 to 255, divided by 255. The class is the soil of the central
// pixel. There is no class 6: classes 1 to 5 and 7 become 0 to 5.
func loadSatimage(m *manifestSet, _ Ref, finder Finder) (*Set, error) {
	rows, sums, err := readTables(m, finder, ' ', -1, []string{"1", "2", "3", "4", "5", "7"}, 255)
	if err != nil {
		return nil, err
	}
	return &Set{Name: m.Name, Classes: m.Classes, Train: rows[0], Test: rows[1], Sums: sums}, nil
}
