package record

// A StreamPoint is what is measured of an endless stream every so many samples.
type StreamPoint struct {
	Samples    int
	ModelOrder int
	Heap       uint64  // bytes in use after a garbage collection
	Resident   uint64  // bytes of the process in memory; 0 where the system does not say
	Error      float64 // prequential: fraction of the samples since the last point that the model got wrong before it learned from them
	Throughput float64 // samples a second of training since the last point
}
