package texton

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"polkrepro/internal/testutil"
)

// mapsSums are the SHA-256 of the maps that TestMaps makes. They are the same
// on every platform.
var mapsSums = map[Preprocessing]string{
	Raw:             "49fdd928c751594dcde23e873a1ef3cbc6bdb469f579ddd3f29d4abfa11ed2e8",
	ImageNormalised: "6df9a3b72623d7db4c268b18d532f0f7160b3d86d0f2eefad8980383625c78f5",
	Contrast:        "04f288254720aebf38072ba3e683c13cf61f70561c7ec36f5618d36330dc0be1",
	MR8:             "472f9c52e432137ade669744fe604ef90ed9ce25856f30d6ed9d1496c8da27a4",
}

// TestMaps compares the maps of two small images, computed with different numbers of
// threads, with the committed sums.
func TestMaps(t *testing.T) {
	images := []*Image{speckled(1, 60, 49, 20, 90), speckled(2, 49, 52, 0, 256)}
	for y := range 49 { // not only noise
		for x := range 60 {
			if (x/5+y/7)%2 == 0 {
				images[0].Pix[y*60+x] += 100
			}
		}
	}
	for pre, want := range mapsSums {
		threads := []int{3}
		if pre == Raw {
			threads = []int{1, 2, 5}
		}
		for _, threads := range threads {
			opt := Options{Preprocessing: pre, Textons: 12, Samples: 300, Iterations: 50, Threads: threads}
			maps := Maps(images, opt, rand.NewPCG(1, 2))
			h := sha256.New()
			var seen [256]bool
			for i, m := range maps {
				if m.Width != images[i].Width || m.Height != images[i].Height || len(m.Pix) != len(images[i].Pix) {
					t.Fatalf("%s: map %d is %d×%d", pre, i, m.Width, m.Height)
				}
				h.Write(m.Pix)
				for _, v := range m.Pix {
					seen[v] = true
				}
			}
			if got := hex.EncodeToString(h.Sum(nil)); got != want {
				t.Errorf("%s, %d threads: SHA-256 %s, committed %s", pre, threads, got, want)
			}
			for v, there := range seen {
				if there != (v < opt.Textons) {
					t.Errorf("%s: texton %d in the maps: %v", pre, v, there)
				}
			}
		}
	}
}

func TestCrop(t *testing.T) {
	m := &Image{4, 3, []uint8{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}}
	c := m.Crop(1, 1, 3, 3)
	if c.Width != 2 || c.Height != 2 || string(c.Pix) != string([]byte{11, 12, 21, 22}) {
		t.Errorf("%+v", c)
	}
	c.Pix[0] = 99
	if m.Pix[5] != 11 {
		t.Error("not a copy")
	}
	for _, r := range [][4]int{{-1, 0, 2, 2}, {0, -1, 2, 2}, {0, 0, 5, 2}, {0, 0, 2, 4}, {3, 0, 2, 2}, {0, 3, 2, 2}} {
		testutil.MustPanic(t, func() { m.Crop(r[0], r[1], r[2], r[3]) })
	}
}
