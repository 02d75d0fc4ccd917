package data

import (
	"bytes"
	"fmt"
	"image"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"polkrepro/data/rows"
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
	set := &Set{Name: m.Name, Classes: mnistClasses, Sums: make(map[string]string)}
	idx := make([]*rows.IDX, len(m.Files))
	sums := make([]string, len(m.Files))
	var g errgroup.Group
	for i, file := range m.Files {
		g.Go(func() (err error) {
			path := filepath.Join(loc.dir, loc.files[i])
			var buf bytes.Buffer
			buf.Grow(int(file.Size))
			if sums[i], err = hashVerified(path, file, &buf); err != nil {
				return err
			}
			if idx[i], err = rows.ReadIDX(&buf, file.Size); err != nil {
				return fmt.Errorf("%s: %w: %w; %s", path, ErrCorrupt, err, replaceIt)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, file := range m.Files {
		set.Sums[file.Name] = sums[i]
	}
	if set.Train, err = mnistSplit(idx[0], idx[1]); err != nil {
		return nil, fmt.Errorf("%s: %w: training set: %w", loc.dir, ErrCorrupt, err)
	}
	if set.Test, err = mnistSplit(idx[2], idx[3]); err != nil {
		return nil, fmt.Errorf("%s: %w: test set: %w", loc.dir, ErrCorrupt, err)
	}
	return set, nil
}

// mnistSplit joins images (n×28×28) and labels (n).
func mnistSplit(images, labels *rows.IDX) (*Split, error) {
	if len(images.Dims) != 3 || images.Dims[1] != mnistSide || images.Dims[2] != mnistSide {
		return nil, fmt.Errorf("images have dimensions %v, not n×%d×%d", images.Dims, mnistSide, mnistSide)
	}
	n := images.Dims[0]
	if len(labels.Dims) != 1 {
		return nil, fmt.Errorf("labels have %d dimensions, not one", len(labels.Dims))
	}
	if labels.Dims[0] != n {
		return nil, fmt.Errorf("%d images but %d labels", n, labels.Dims[0])
	}
	s := newSplit(n, mnistSide*mnistSide)
	for i, v := range images.Data {
		s.X[i] = float32(v) / 255
	}
	for i, v := range labels.Data {
		if v >= mnistClasses {
			return nil, fmt.Errorf("label %d of example %d is out of range: 0 … %d", v, i, mnistClasses-1)
		}
		s.Y[i] = float64(v)
	}
	return s, nil
}
