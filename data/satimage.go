package data

// Statlog (Landsat Satellite). The features are 3×3 pixels in four spectral bands, from 0 to 255,
// divided by 255. The class is the soil of the central pixel. There is no class 6: classes 1 to 5
// and 7 become 0 to 5.
func init() {
	register("satimage", code{load: loadRows(' ', csv(-1), []string{"1", "2", "3", "4", "5", "7"}, 255)})
}
