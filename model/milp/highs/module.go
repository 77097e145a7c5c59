// SPDX-License-Identifier: MIT

package highs

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// HiGHS is one file of WebAssembly, from npm's package highs. The names of its exports are minified and belong to this
// very file, so no other version will do.
const (
	packageVersion = "1.15.3"
	version        = "1.15.1" // of HiGHS in it
)

// ErrMissing is the error of every solve where the file of HiGHS isn't there. It wraps
// model.ErrUnsupported.
var ErrMissing = fmt.Errorf("%w: HiGHS isn't here: %s", model.ErrUnsupported, remedy)

// Versions returns the versions of HiGHS and of the library that Lanl is linked with, each "" if missing.
func Versions() (webAssembly, native string) {
	if Available() {
		webAssembly = version
	}
	return webAssembly, nativeVersion()
}

// Available reports whether HiGHS is there, without reading its file.
func Available() bool { return missing() == nil }
