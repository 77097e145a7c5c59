// SPDX-License-Identifier: MIT

//go:build !js

package highs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// machine is an instance in wazero.
type machine struct {
	module, table api.Module
	memory        api.Memory
	ctx           context.Context // of every call: it leads the functions of the host to the instance
	functions     map[string]api.Function

	content []byte // of the file that HiGHS may read
	at      int

	looks int64 // at the clock, of a counted run
	late  int64 // looks since it was stopped
}

type instanceKey struct{}

// pretended is the number of the file that HiGHS reads.
const pretended = 5

// counts means that the work of a run can be counted.
const counts = true

// begin makes the machine of a new instance.
func (s *instance) begin(e *engine) (err error) {
	s.functions = map[string]api.Function{}
	s.ctx = context.WithValue(context.Background(), instanceKey{}, s)
	unnamed := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	if s.module, err = e.runtime.InstantiateModule(withMemory(s.ctx), e.highs, unnamed); err != nil {
		return err
	}
	s.memory = s.module.Memory()
	if _, err = s.call("__wasm_call_ctors"); err != nil {
		return err
	}
	here := experimental.WithImportResolver(s.ctx, func(name string) api.Module {
		if name == "highs" {
			return s.module
		}
		return nil
	})
	if s.table, err = e.runtime.InstantiateModule(here, e.notify, unnamed); err != nil {
		return err
	}
	place, err := s.table.ExportedFunction("place").Call(s.ctx)
	if err == nil {
		s.place = uint32(place[0])
	}
	return err
}

// reset forgets the last model.
func (m *machine) reset() { m.content, m.looks, m.late = nil, 0, 0 }

// end gives the memory back.
func (m *machine) end() {
	for _, x := range []api.Module{m.table, m.module} {
		if x != nil {
			_ = x.Close(m.ctx)
		}
	}
}

// size returns the bytes of its memory.
func (m *machine) size() uint32 { return m.memory.Size() }

// tellStop has nothing to do: the clock knows when the instance was stopped.
func (m *machine) tellStop() {}

// now returns the time in nanoseconds, as HiGHS sees it. If its work is counted, time passes by its looks at the
// clock, so that two runs are the same.
func (s *instance) now() int64 {
	t, stopped := time.Since(epoch), s.stopped.Load()
	late := stopped != 0 && int64(t)-stopped > int64(patience)
	if s.looked != nil {
		s.looks++
		if stopped != 0 {
			s.late++
		}
		t, late = time.Duration(s.looks)*lookTime, s.late > int64(patience/lookTime)
		if s.looks%looksCounted == 0 {
			s.looked()
		}
	}
	if late {
		t += jump
	}
	return int64(t)
}

// lookTime is the time between two looks at the clock, about, of small models.
const lookTime = 40 * time.Microsecond

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
func (m *machine) parts(stack []uint64) []part {
	all := make([]part, uint32(stack[2]))
	for i := range all {
		at := uint32(stack[1]) + 8*uint32(i)
		all[i].at, _ = m.memory.ReadUint32Le(at)
		all[i].size, _ = m.memory.ReadUint32Le(at + 4)
	}
	return all
}

// put copies data into the memory, get out of it. Both panic beyond its end, which only a wrong address of HiGHS
// can be.
func (m *machine) put(at uint32, data []byte) {
	if !m.memory.Write(at, data) {
		panic(errLost)
	}
}

func (m *machine) get(at uint32, data []byte) {
	from, ok := m.memory.Read(at, uint32(len(data)))
	if !ok {
		panic(errLost)
	}
	copy(data, from)
}
