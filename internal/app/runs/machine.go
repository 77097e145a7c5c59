// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"os"
	"runtime"
	"sync"

	"github.com/klauspost/cpuid/v2"
)

// Machine describes the computer that this program runs on.
type Machine struct {
	Host string // its name, "" if it has none
	CPU  string // the processor's model, else the architecture: arm64
}

// Here is this computer.
var Here = sync.OnceValue(func() Machine {
	host, _ := os.Hostname()
	return Machine{host, cmp.Or(cpuid.CPU.BrandName, runtime.GOARCH)}
})

// Processors names the models of processor that the records are of, in the order in
// which they appear: times on different ones don't compare.
func Processors(records []Record) []string {
	return distinct(records, func(r *Record) string { return r.CPU })
}
