// SPDX-License-Identifier: MIT

//go:build js

package highs

import (
	"context"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/gapwise/gapwise/internal/run/panics"
)

// engine is the page's HiGHS, which its worker has compiled: web/page/highs.js runs it next to this program.
type engine struct{ js.Value }

// offered is the global variable in which the worker offers HiGHS, to the questions that need it alone.
const offered = "highs"

// remedy explains how to get HiGHS here.
const remedy = "in the browser the page loads it, for the algorithms that name it"

// missing returns nil if HiGHS is there, else an error that wraps ErrMissing.
func missing() error {
	_, err := started(context.Background())
	return err
}

func started(context.Context) (*engine, error) {
	if e := js.Global().Get(offered); e.Type() == js.TypeObject {
		return &engine{e}, nil
	}
	return nil, ErrMissing
}

// machine is an instance in the browser: an object of highs.js.
type machine struct {
	js.Value
	notify js.Func
}

// counts means that the work of a run can't be counted. If it waited for another's turn, the browser's one stack would
// have HiGHS below that other, and neither could go on.
const counts = false

// breathe lets timers fire, and the goroutines run that wait for them: whenever the browser calls Go, the call returns
// when every goroutine waits. HiGHS has the one thread otherwise.
var breathe = js.FuncOf(func(js.Value, []js.Value) any { return nil })

// begin makes the machine of a new instance.
func (s *instance) begin(e *engine) error {
	s.notify = js.FuncOf(func(_ js.Value, args []js.Value) any {
		at := func(i int) uint32 { return uint32(args[i].Int()) }
		if s.callback == nil {
			return nil
		}
		// HiGHS's frames lie between this one and any caller that could recover.
		if err := panics.Call(func() error { s.callback(args[0].Int(), at(1), at(2), at(3)); return nil }); err != nil {
			s.lost = true
			s.stop()
		}
		return nil
	})
	code := notifier()
	bytes := js.Global().Get("Uint8Array").New(len(code))
	js.CopyBytesToJS(bytes, code)
	names := func(all map[string]string) map[string]any {
		values := make(map[string]any, len(all))
		for name, short := range all {
			values[name] = short
		}
		return values
	}
	answer := e.Call("begin", map[string]any{
		"exports": names(exports), "imports": names(imports), "notifier": bytes, "notify": s.notify, "breathe": breathe,
		"patience": patience.Milliseconds(), "jump": jump.Milliseconds(),
	})
	if answer.Type() == js.TypeString {
		return errors.New(answer.String())
	}
	s.Value, s.place = answer, uint32(answer.Get("place").Int())
	return nil
}

// reset forgets the last model.
func (m *machine) reset() { m.Set("stopped", 0) }

// end gives the memory back, as the browser likes.
func (m *machine) end() {
	m.Value = js.Undefined()
	m.notify.Release()
}

// size returns the bytes of its memory.
func (m *machine) size() uint32 { return uint32(m.Get("size").Int()) }

// tellStop passes the stop to the clock.
func (m *machine) tellStop() { m.Call("stop") }

// call calls a function by its name in C. Arguments are int (32 bits), uint32 (addresses) or float64.
func (s *instance) call(name string, args ...any) (int, error) {
	if s.lost {
		return 0, fmt.Errorf("%w: %w", errSolver, errLost)
	}
	answer := s.Call("call", append([]any{exports[name]}, args...)...)
	if answer.Type() == js.TypeNumber {
		return answer.Int(), nil
	}
	s.lost = true
	if s.full = s.Get("full").Bool(); s.full {
		return 0, fmt.Errorf("%w: %w", errSolver, errMemory)
	}
	return 0, fmt.Errorf("%w: %s: %s", errSolver, name, answer.String())
}

// put copies data into the memory, get out of it. Both panic beyond its end, which only a wrong address of HiGHS
// can be.
func (m *machine) put(at uint32, data []byte) { js.CopyBytesToJS(m.bytes(at, len(data)), data) }

func (m *machine) get(at uint32, data []byte) { js.CopyBytesToGo(data, m.bytes(at, len(data))) }

// bytes returns a part of the memory, for the moment: it moves when it grows.
func (m *machine) bytes(at uint32, n int) js.Value {
	b := m.Call("bytes", at, n)
	if b.IsNull() {
		panic(errLost)
	}
	return b
}
