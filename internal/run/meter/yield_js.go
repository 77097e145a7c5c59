// SPDX-License-Identifier: MIT

package meter

import "runtime"

// yield lets timers fire: WebAssembly has one thread, on which no goroutine is
// interrupted, so that a time limit would end when the search does.
func yield() { runtime.Gosched() }
