package benchmarks

import (
	"cmp"
	"os"
	"runtime"
	"sync"

	"github.com/klauspost/cpuid/v2"
)

// machine describes the computer that this program runs on.
type machine struct {
	host string // its name, "" if it has none
	cpu  string // the processor's model, else the architecture: arm64
}

var here = sync.OnceValue(func() machine {
	host, _ := os.Hostname()
	return machine{host, cmp.Or(cpuid.CPU.BrandName, runtime.GOARCH)}
})

// Processors names the models of processor that the records are of, in the order in
// which they appear: times on different ones don't compare.
func Processors(records []Record) []string {
	seen := map[string]bool{}
	var all []string
	for i := range records {
		if c := records[i].CPU; c != "" && !seen[c] {
			seen[c] = true
			all = append(all, c)
		}
	}
	return all
}
