package tvc

// NewFirstFit returns first fit: all servers by index, a core switch as host.
func NewFirstFit() Embedder { return &sequence{key: byIndex, by: inWords("by number")} }

// NewFirstFitLocal returns first fit below the first switch, bottom-up, that the
// cluster fits below.
func NewFirstFitLocal() Embedder {
	return &sequence{key: byIndex, local: true, by: inWords("by number")}
}

func byIndex(*DataCentre, int, int64) int64 { return 0 }

// inWords is a sequence's by that is always the same.
func inWords(order string) func(*DataCentre, int64) string {
	return func(*DataCentre, int64) string { return order }
}
