package tvc

// NewFirstFit returns first fit: all servers by index, a core switch as host.
func NewFirstFit() Embedder { return &sequence{key: byIndex} }

// NewFirstFitLocal returns first fit below the first switch, bottom-up, that the
// cluster fits below.
func NewFirstFitLocal() Embedder { return &sequence{key: byIndex, local: true} }

func byIndex(*DataCentre, int, int64) int64 { return 0 }
