// SPDX-License-Identifier: MIT

//go:build !js

package highs

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// instance is HiGHS with memory of its own. One goroutine at a time calls it; any may stop it.
type instance struct {
	module, table api.Module
	memory        api.Memory
	ctx           context.Context // of every call: it leads the functions of the host here
	functions     map[string]api.Function
	place         uint64 // of the callback, in the table of HiGHS

	content []byte // of the file that HiGHS may read
	at      int

	callback func(kind int, message, out, in uint32)
	looked   func() // if not nil, called whenever HiGHS looks at the clock; it must not call HiGHS
	looks    int64
	late     int64        // looks since it was stopped
	stopped  atomic.Int64 // when, since epoch; 0: it isn't
	full     bool         // memory could not be had
	lost     bool         // HiGHS aborted
}

type instanceKey struct{}

// pretended is the number of the file that HiGHS reads.
const pretended = 5

// idle are instances that others have used, since a new one costs as much as a small model.
var idle struct {
	sync.Mutex
	free []*instance
}

// keptMemory is the most that an idle instance may have: its memory never shrinks.
const keptMemory = 32 << 20

// newInstance returns an instance, an idle one if there is one. HiGHS may have to be compiled first, for which nobody
// waits after the end of ctx.
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
	s := &instance{functions: map[string]api.Function{}}
	s.ctx = context.WithValue(context.Background(), instanceKey{}, s)
	unnamed := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	if s.module, err = e.runtime.InstantiateModule(s.ctx, e.highs, unnamed); err == nil {
		s.memory = s.module.Memory()
		if _, err = s.call("__wasm_call_ctors"); err == nil {
			here := experimental.WithImportResolver(s.ctx, func(name string) api.Module {
				if name == "highs" {
					return s.module
				}
				return nil
			})
			if s.table, err = e.runtime.InstantiateModule(here, e.notify, unnamed); err == nil {
				var place []uint64
				if place, err = s.table.ExportedFunction("place").Call(s.ctx); err == nil {
					s.place = place[0]
				}
			}
		}
	}
	if err != nil {
		s.lost = true
		s.release()
		return nil, fmt.Errorf("%w: %w", errSolver, err)
	}
	return s, nil
}

// release gives the memory back, or keeps the instance for the next model.
func (s *instance) release() {
	s.callback, s.content, s.looked, s.looks, s.late = nil, nil, nil, 0, 0
	if !s.lost && s.memory.Size() <= keptMemory && !s.full {
		s.stopped.Store(0)
		idle.Lock()
		defer idle.Unlock()
		if len(idle.free) < runtime.GOMAXPROCS(0) {
			idle.free = append(idle.free, s)
			return
		}
	}
	for _, m := range []api.Module{s.table, s.module} {
		if m != nil {
			_ = m.Close(s.ctx)
		}
	}
}

// stop has every callback ask for the end. HiGHS calls nobody in a root LP, and in the MIPs of its heuristics: if it still
// runs after patience, its clock jumps beyond any time limit.
func (s *instance) stop() { s.stopped.CompareAndSwap(0, int64(time.Since(epoch))) }

// patience is the time until the clock jumps; a run whose work is counted has it in looks at the clock.
const patience = 30 * time.Millisecond

// now returns the time in nanoseconds, as HiGHS sees it. If its work is counted, time passes by its looks at the clock, so that
// two runs are the same.
func (s *instance) now() int64 {
	t, stopped := time.Since(epoch), s.stopped.Load()
	late := stopped != 0 && int64(t)-stopped > int64(patience)
	if s.looked != nil {
		s.looks++
		if stopped != 0 {
			s.late++
		}
		t, late = time.Duration(s.looks)*lookTime, s.late > int64(patience/lookTime)
		s.looked()
	}
	if late {
		t += 2 * noLimit
	}
	return int64(t)
}

// lookTime is the time between two looks at the clock, about, of small models.
const lookTime = 40 * time.Microsecond

var epoch = time.Now()

// call calls a function by its name in C. Arguments are int (32 bits), uint32 (addresses) or float64.
func (s *instance) call(name string, args ...any) (int, error) {
	if s.lost {
		return 0, fmt.Errorf("%w: %w", errSolver, errLost)
	}
	f := s.functions[name]
	if f == nil {
		if f = s.module.ExportedFunction(exports[name]); f == nil {
			return 0, fmt.Errorf("%w: there is no function %s", errSolver, name)
		}
		s.functions[name] = f
	}
	raw := make([]uint64, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case int:
			raw[i] = api.EncodeI32(int32(a))
		case uint32:
			raw[i] = uint64(a)
		case float64:
			raw[i] = api.EncodeF64(a)
		}
	}
	results, err := f.Call(s.ctx, raw...)
	switch {
	case err != nil && s.full:
		s.lost = true
		return 0, fmt.Errorf("%w: %w", errSolver, errMemory)
	case err != nil: // with the stack of WebAssembly below its first line
		s.lost = true
		first, _, _ := strings.Cut(err.Error(), "\n")
		return 0, fmt.Errorf("%w: %s: %s", errSolver, name, first)
	case len(results) == 0:
		return 0, nil
	}
	return int(int32(results[0])), nil
}

// part is a buffer that a function on files is given.
type part struct{ at, size uint32 }

// parts returns the buffers of the arguments (file, buffers, how many).
func (s *instance) parts(stack []uint64) []part {
	all := make([]part, uint32(stack[2]))
	for i := range all {
		at := uint32(stack[1]) + 8*uint32(i)
		all[i].at, _ = s.memory.ReadUint32Le(at)
		all[i].size, _ = s.memory.ReadUint32Le(at + 4)
	}
	return all
}

// put copies data into the memory, get out of it. Both panic beyond its end, which only a wrong address of HiGHS can be.
func (s *instance) put(at uint32, data []byte) {
	if !s.memory.Write(at, data) {
		panic(errLost)
	}
}

func (s *instance) get(at uint32, data []byte) {
	from, ok := s.memory.Read(at, uint32(len(data)))
	if !ok {
		panic(errLost)
	}
	copy(data, from)
}
