package data

func init() {
	// The files have MNIST's names, sizes and format.
	register("fashion-mnist", code{load: loadMNIST, pictures: mnistPictures})
}
