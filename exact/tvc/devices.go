package tvc

import (
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
)

// deviceSet is a set of the search's devices that are switched off. None changes
// what is proved, only how soon.
type deviceSet uint32

// devices names them, in the order of their bits.
var devices = []exact.Switch[deviceSet]{}

// Devices lists the parts of Search that Without can switch off.
func Devices() []exact.Device { return exact.DevicesOf(devices) }

// Without returns Search with the named devices switched off. It proves the same,
// later. An unknown name is an error that lists the known ones.
func Without(names ...string) (model.Solver, error) {
	off, err := exact.BitsOf("tvc", devices, names)
	return Search{off: off}, err
}
