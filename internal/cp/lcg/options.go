// SPDX-License-Identifier: MIT

package lcg

// Options vary a kernel. The zero value is the one to use.
type Options struct {
	// Seed, if it isn't 0, breaks ties between decisions that have been in as many conflicts, so that searches differ.
	Seed uint64
	// Off are devices that are left out, to measure the worth of each.
	Off Device
}

// Device is a set of parts of the kernel; without them it is still correct.
type Device uint32

// The devices.
const (
	Learning  Device = 1 << iota // nogoods are kept
	Phases                       // first the value in the best solution
	Upwards                      // the least objective by refuting lower ones
	Downwards                    // ... by improving solutions, in turns
	Overload                     // ... windows with more work than time
)

// off reports whether a device is left out.
func (k *Kernel) off(d Device) bool { return k.options.Off&d != 0 }
