package model

// BatchParameters are the settings that only algorithms for Batch know.
type BatchParameters struct {
	// Order is the order of the events of one instant; empty: BatchOrderBatch.
	Order BatchOrder `key:"order" shown:"batch" usage:"events of one instant: batch (ends, arrivals, one pass) or pyss (arrivals, ends, a pass for each)"`
}

// BatchOrder is an order in which schedulers see the events of one instant.
type BatchOrder string

// The orders. In both, equal events come by the index of their jobs.
const (
	// BatchOrderBatch has all ends first, then all arrivals, then one pass of the
	// scheduler.
	BatchOrderBatch BatchOrder = "batch"
	// BatchOrderPyss has a pass after each event, arrivals before ends, as in the
	// simulator pyss. Before the arrivals, the processors of jobs that end at this
	// instant and whose estimated end has come are counted as free.
	BatchOrderPyss BatchOrder = "pyss"
)

// Kind implements Parameters.
func (*BatchParameters) Kind() Kind { return KindBatch }
