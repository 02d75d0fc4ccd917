package data

import "image"

// MNIST's images are 28×28 pixels of ten digits.
const (
	mnistSide    = 28
	mnistClasses = 10
)

func init() {
	register("mnist", code{load: loadMNIST, pictures: mnistPictures})
	// The files have MNIST's names, sizes and format.
	register("fashion-mnist", code{load: loadMNIST, pictures: mnistPictures})
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
	contents, sums, err := finder.read(m)
	if err != nil {
		return nil, err
	}
	return &Set{
		Name: m.Name, Classes: mnistClasses, Sums: sums,
		Train: mnistSplit(contents[0], contents[1]),
		Test:  mnistSplit(contents[2], contents[3]),
	}, nil
}

// mnistSplit combines an IDX file of images with one of labels. It skips their headers,
// whose contents are known because the checksums match the manifest's.
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
