package data

import (
	"errors"
	"testing"
)

func TestPictures(t *testing.T) {
	digits, err := Pictures("glyphs", Finder{})
	if err != nil || len(digits) != 36 {
		t.Fatalf("%d glyphs, %v", len(digits), err)
	}
	train, _ := glyphSplits(36)
	for i, m := range digits {
		if m.Rect.Dx() != 28 || m.Rect.Dy() != 28 {
			t.Fatalf("glyph %d is %v", i, m.Rect)
		}
		for k, v := range train.Row(i) {
			if got := m.GrayAt(k%28, k/28).Y; int(got)+int(255*v+0.5) != 255 {
				t.Fatalf("glyph %d, pixel %d: grey %d of ink %v", i, k, got, v)
			}
		}
	}
	textures, err := Pictures("weaves", Finder{})
	if err != nil || len(textures) != 13 {
		t.Fatalf("%d weaves, %v", len(textures), err)
	}
	for i, m := range weaveImages(1) {
		if textures[i].Rect.Dx() != m.Width || textures[i].GrayAt(7, 11).Y != m.Pix[11*m.Width+7] {
			t.Errorf("texture %d is another one", i)
		}
	}
	for name, want := range map[string]error{"multidist": ErrUnknown, "nonsense": ErrUnknown} {
		if _, err := Pictures(name, Finder{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
