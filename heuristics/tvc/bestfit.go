package tvc

// NewBestFit returns best fit: all servers by ascending free slots, a core switch
// as host.
func NewBestFit() Embedder {
	return &sequence{key: byFree, by: inWords("with the least free slots first")}
}

// NewBestFitLocal returns best fit below the first switch, bottom-up, that the
// cluster fits below.
func NewBestFitLocal() Embedder {
	return &sequence{key: byFree, local: true, by: inWords("with the least free slots first")}
}

func byFree(_ *DataCentre, free int, _ int64) int64 { return int64(free) }
