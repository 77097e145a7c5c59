// SPDX-License-Identifier: MIT

package highs

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// instance is HiGHS with memory of its own. One goroutine at a time calls it; any may stop it.
type instance struct {
	machine        // runs it: wazero, or the browser
	place   uint32 // of the callback, in the table of HiGHS

	callback func(kind int, message, out, in uint32)
	looked   func()       // if not nil, called at each looksCounted-th look at the clock; it must not call HiGHS
	stopped  atomic.Int64 // when, since epoch; 0: it isn't
	full     bool         // memory could not be had
	lost     bool         // HiGHS aborted
}

// idle are instances that others have used, since a new one costs as much as a small model.
var idle struct {
	sync.Mutex
	free []*instance
}

// keptMemory is the most that an idle instance may have: its memory never shrinks.
const keptMemory = 32 << 20

// newInstance returns an instance, an idle one if there is one. HiGHS may have to be compiled first; no caller waits
// for that after the end of ctx.
func newInstance(ctx context.Context) (*instance, error) {
	idle.Lock()
	if n := len(idle.free); n > 0 {
		s := idle.free[n-1]
		idle.free = idle.free[:n-1]
		idle.Unlock()
		return s, nil
	}
	idle.Unlock()
	e, err := started(ctx)
	if err != nil {
		return nil, err
	}
	s := new(instance)
	if err := s.begin(e); err != nil {
		s.lost = true
		s.release()
		return nil, fmt.Errorf("%w: %w", errSolver, err)
	}
	return s, nil
}

// release gives the memory back, or keeps the instance for the next model.
func (s *instance) release() {
	s.callback, s.looked = nil, nil
	if !s.lost && s.size() <= keptMemory && !s.full {
		s.stopped.Store(0)
		s.reset()
		idle.Lock()
		defer idle.Unlock()
		if len(idle.free) < runtime.GOMAXPROCS(0) {
			idle.free = append(idle.free, s)
			return
		}
	}
	s.end()
}

// stop has every callback ask for the end. HiGHS calls no function in a root LP, and in the MIPs of its heuristics: if
// it still runs after patience, its clock jumps beyond any time limit.
func (s *instance) stop() {
	if s.stopped.CompareAndSwap(0, int64(time.Since(epoch))) {
		s.tellStop()
	}
}

var epoch = time.Now()

// patience is the time until the clock jumps; a counted run measures it in looks at the clock.
const patience = 30 * time.Millisecond

// jump is how far the clock then jumps.
const jump = 2 * noLimit

// notifier is a module that puts the function "notify" of the host into the table of HiGHS, where callbacks are
// looked up, and returns its place:
//
//	(import "gapwise" "notify" (func (param i32 i32 i32 i32 i32)))
//	(import "highs" "table" (table 1 funcref))
//	(func (export "place") (result i32) (table.grow (ref.func 0) (i32.const 1)))
func notifier() []byte {
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, "\x02\x60\x05\x7f\x7f\x7f\x7f\x7f\x00\x60\x00\x01\x7f"), // the types of both functions
		section(2, "\x02\x07gapwise\x06notify\x00\x00\x05highs"+
			string(rune(len(exports["table"])))+exports["table"]+"\x01\x70\x00\x01"),
		section(3, "\x01\x01"),                                      // one function of the second type
		section(7, "\x01\x05place\x00\x01"),                         // its export
		section(9, "\x01\x03\x00\x01\x00"),                          // the imported function may be referred to
		section(10, "\x01\x09\x00\xd2\x00\x41\x01\xfc\x0f\x00\x0b")) // ref.func 0; i32.const 1; table.grow 0
}

// section returns a section of a module, of at most 127 bytes.
func section(id byte, content string) []byte {
	return append([]byte{id, byte(len(content))}, content...)
}
