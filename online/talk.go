package online

type talk struct{}
