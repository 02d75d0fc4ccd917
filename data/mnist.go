package data

import (
	"bytes"
	"image"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// MNIST's images are 28×28 pixels of ten digits.
const (
	mnistSide    = 28
	mnistClasses = 10
)

func init() {
	register("mnist", code{load: loadMNIST, pictures: mnistPictures})
}

func mnistPictures(m *manifestSet, finder Finder) ([]*image.Gray, error) {
	set, err := loadMNIST(m, Ref{}, finder)
	if err != nil {
		return nil, err
	}
	return digitPictures(set.Train, mnistSide), nil
}

// loadMNIST reads the four IDX files of MNIST: p = 784 pixels scaled to x/255,
// C = 10, N = 60000 for training and 10000 for testing (paper, section "Data
// Sets").
func loadMNIST(m *manifestSet, _ Ref, finder Finder) (*Set, error) {
	loc, err := finder.locate(m)
	if err != nil {
		return nil, err
	}
	contents := make([]bytes.Buffer, len(m.Files))
	sums := make([]string, len(m.Files))
	var g errgroup.Group
	for i, file := range m.Files {
		g.Go(func() (err error) {
			contents[i].Grow(int(file.Size))
			sums[i], err = hashVerified(filepath.Join(loc.dir, loc.files[i]), file, &contents[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	set := &Set{Name: m.Name, Classes: mnistClasses, Sums: make(map[string]string)}
	for i, file := range m.Files {
		set.Sums[file.Name] = sums[i]
	}
	set.Train = mnistSplit(contents[0].Bytes(), contents[1].Bytes())
	set.Test = mnistSplit(contents[2].Bytes(), contents[3].Bytes())
	return set, nil
}

// mnistSplit joins the IDX files of images and of labels. What their headers say is known:
// the files have the manifest's sums.
func mnistSplit(images, labels []byte) *Split {
	const imagesHeader, labelsHeader = 16, 8
	s := newSplit(len(labels)-labelsHeader, mnistSide*mnistSide)
	for i, v := range images[imagesHeader:] {
		s.X[i] = float32(v) / 255
	}
	for i, v := range labels[labelsHeader:] {
		s.Y[i] = float64(v)
	}
	return s
}
