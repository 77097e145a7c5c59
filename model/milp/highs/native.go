// SPDX-License-Identifier: MIT

//go:build cgo && !nohighs

package highs

/*
#cgo pkg-config: highs
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/cgo"
	"strings"
	"sync"
	"unsafe"

	"github.com/gapwise/gapwise/model/milp"
)

//export gwLog
func gwLog(handle C.uintptr_t, message *C.char) {
	if log, ok := cgo.Handle(handle).Value().(func(string)); ok {
		log(strings.TrimRight(C.GoString(message), "\n"))
	}
}

//export gwCount
func gwCount(handle C.uintptr_t, iterations C.int64_t) C.int {
	if count, ok := cgo.Handle(handle).Value().(func(int64) bool); ok && count(int64(iterations)) {
		return 1
	}
	return 0
}

// Version is the version of the HiGHS library that is linked in.
func Version() string { return C.GoString(C.gw_version()) }

// scheduler guards HiGHS's process-wide task scheduler, which belongs to the
// operating-system thread and the number of threads of the solve that made it:
// another solve with several threads fails unless it is reset in between, with
// no solve running.
var scheduler sync.RWMutex

// lockScheduler returns the function that undoes it. Solves with one thread
// run side by side; one with more runs alone.
func lockScheduler(threads int) func() {
	if threads == 1 {
		scheduler.RLock()
		return scheduler.RUnlock
	}
	scheduler.Lock()
	runtime.LockOSThread()
	C.gw_reset_scheduler()
	return func() {
		C.gw_reset_scheduler()
		runtime.UnlockOSThread()
		scheduler.Unlock()
	}
}

// native is one HiGHS object, used by one goroutine at a time but for stop and
// now.
type native struct {
	s          *C.gw_state
	log, calls cgo.Handle
}

func newNative(log func(string)) (*native, error) {
	n := &native{}
	if log != nil {
		n.log = cgo.NewHandle(log)
	}
	n.s = C.gw_new(C.uintptr_t(n.log))
	if n.s == nil {
		n.close()
		return nil, fmt.Errorf("%w: it can't be created or refuses a callback", errSolver)
	}
	if err := apply(n.boolOption, n.intOption, n.doubleOption, safeOptions); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

func (n *native) close() {
	if n.s != nil {
		C.gw_free(n.s)
		n.s = nil
	}
	for _, h := range []*cgo.Handle{&n.log, &n.calls} {
		if *h != 0 {
			h.Delete()
			*h = 0
		}
	}
}

// count has f called with the iterations so far wherever a MIP may be stopped, which it is if f returns true.
func (n *native) count(f func(iterations int64) (stop bool)) {
	n.calls = cgo.NewHandle(f)
	C.gw_count(n.s, C.uintptr_t(n.calls))
}

func check(rc C.int, what string) error {
	if rc < 0 {
		return fmt.Errorf("%w: %s fails with code %d", errSolver, what, int(rc))
	}
	return nil
}

func (n *native) boolOption(name string, v bool) error {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	b := C.int(0)
	if v {
		b = 1
	}
	return check(C.gw_bool_option(n.s, c, b), "option "+name)
}

func (n *native) intOption(name string, v int) error {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return check(C.gw_int_option(n.s, c, C.int(v)), "option "+name)
}

func (n *native) doubleOption(name string, v float64) error {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return check(C.gw_double_option(n.s, c, C.double(v)), "option "+name)
}

func (n *native) stringOption(name, v string) error {
	c, d := C.CString(name), C.CString(v)
	defer C.free(unsafe.Pointer(c))
	defer C.free(unsafe.Pointer(d))
	return check(C.gw_string_option(n.s, c, d), "option "+name)
}

// ptr is the address of a slice's first element, nil for an empty slice.
func ptr[C, G any](s []G) *C { return (*C)(unsafe.Pointer(unsafe.SliceData(s))) }

func (n *native) pass(m *milp.Model, relax bool) error {
	var cost, cl, cu, rl, ru, value []float64
	var start, index, integrality []int32
	for i := range m.Vars {
		v := &m.Vars[i]
		cost, cl, cu = append(cost, v.Cost), append(cl, v.Lower), append(cu, v.Upper)
		if v.Integer && !relax && integrality == nil {
			integrality = make([]int32, len(m.Vars))
		}
		if v.Integer && !relax {
			integrality[i] = 1
		}
	}
	for i := range m.Rows {
		start = append(start, int32(len(index)))
		rl, ru = append(rl, m.Rows[i].Lower), append(ru, m.Rows[i].Upper)
		for _, t := range m.Rows[i].Terms {
			index, value = append(index, int32(t.Var)), append(value, t.Coef)
		}
	}
	if len(index) > math.MaxInt32 {
		return fmt.Errorf("%w: %d coefficients are more than HiGHS takes", errSolver, len(index))
	}
	maximise := C.int(0)
	if m.Maximise {
		maximise = 1
	}
	// HiGHS wants arrays even where they have no elements.
	start, index, value = append(start, int32(len(index))), append(index, 0), append(value, 0)
	return check(C.gw_pass(n.s, C.int(len(m.Vars)), C.int(len(m.Rows)), C.int(len(index)-1), maximise, C.double(m.Offset),
		ptr[C.double](cost), ptr[C.double](cl), ptr[C.double](cu), ptr[C.double](rl), ptr[C.double](ru),
		ptr[C.int](start), ptr[C.int](index), ptr[C.double](value), ptr[C.int](integrality)), "passing the model")
}

func (n *native) read(file string) error {
	c := C.CString(file)
	defer C.free(unsafe.Pointer(c))
	return check(C.gw_read(n.s, c), "reading "+file)
}

func (n *native) addColumns(cols []Column) error {
	var cost, lower, upper, value []float64
	var start, index []int32
	for _, c := range cols {
		start = append(start, int32(len(index)))
		cost, lower, upper = append(cost, c.Cost), append(lower, c.Lower), append(upper, c.Upper)
		for _, t := range c.Terms {
			index, value = append(index, int32(t.Row)), append(value, t.Coef)
		}
	}
	return check(C.gw_add_cols(n.s, C.int(len(cols)), C.int(len(index)), ptr[C.double](cost), ptr[C.double](lower),
		ptr[C.double](upper), ptr[C.int](start), ptr[C.int](index), ptr[C.double](value)), "adding columns")
}

func (n *native) setStart(x []float64) error {
	return check(C.gw_set_solution(n.s, ptr[C.double](x)), "setting the start solution")
}

// run solves and returns the feasibility tolerance with which it did.
//
// HiGHS 1.10 now and then ends a MIP with a point that it then finds outside
// the model by more than the tolerance, and calls that a solve error: after a
// presolve that went wrong, or when tolerances are tight. Such a model is
// solved again without presolve, then with HiGHS's own tolerances.
func (n *native) run(tolerance float64) (float64, error) {
	used := tolerance
	if used == 0 {
		used = defaultTolerance
	}
	err := check(C.gw_run(n.s), "solving")
	if err == nil {
		return used, nil
	}
	for _, change := range []func() error{
		func() error { return n.stringOption("presolve", "off") },
		func() error { used = defaultTolerance; return n.setTolerance(defaultTolerance) },
		func() error { return n.stringOption("presolve", "choose") },
	} {
		if again := errors.Join(check(C.gw_clear(n.s), "clearing"), change()); again != nil {
			return used, errors.Join(err, again)
		}
		if err = check(C.gw_run(n.s), "solving"); err == nil {
			return used, nil
		}
	}
	return used, err
}

// setOptions sets what the caller asks for.
func (n *native) setOptions(o milp.Options) error {
	return apply(n.boolOption, n.intOption, n.doubleOption, optionsOf(o))
}

func (n *native) setTolerance(t float64) error {
	return errors.Join(n.doubleOption("primal_feasibility_tolerance", t), n.doubleOption("dual_feasibility_tolerance", t),
		n.doubleOption("mip_feasibility_tolerance", t))
}

// stop asks a running solve to end; it may be called from any goroutine.
func (n *native) stop() { C.gw_stop(n.s) }

func (n *native) size() (cols, rows int) { return int(C.gw_cols(n.s)), int(C.gw_rows(n.s)) }

// now is what the running solve has reported so far; any goroutine may ask.
func (n *native) now(cols int) (p milp.Progress, x []float64, ok bool) {
	c := C.gw_now(n.s)
	if c.has_solution != 0 {
		x = make([]float64, cols)
		if C.gw_now_solution(n.s, ptr[C.double](x), C.int(cols)) == 0 {
			x = nil
		}
	}
	p = milp.Progress{Incumbent: math.NaN(), Bound: float64(c.dual), Gap: float64(c.gap), Nodes: int64(c.nodes)}
	if c.has_solution != 0 {
		p.Incumbent = float64(c.primal)
	}
	return p, x, c.has_mip != 0
}

func (n *native) doubleInfo(name string) float64 {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	v := C.double(math.NaN())
	if C.gw_double_info(n.s, c, &v) != 0 {
		return math.NaN()
	}
	return float64(v)
}

func (n *native) intInfo(name string) int {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var v C.int
	if C.gw_int_info(n.s, c, &v) != 0 {
		return 0
	}
	return int(v)
}

func (n *native) int64Info(name string) int64 {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var v C.int64_t
	if C.gw_int64_info(n.s, c, &v) != 0 {
		return 0
	}
	return int64(v)
}

func (n *native) modelStatus() int { return int(C.gw_model_status(n.s)) }

// solution is the point with its duals; the slices are empty where there is none.
func (n *native) solution() (x, reduced, rowValue, dual []float64, err error) {
	cols, rows := n.size()
	x, reduced = make([]float64, cols), make([]float64, cols)
	rowValue, dual = make([]float64, rows), make([]float64, rows)
	err = check(C.gw_solution(n.s, ptr[C.double](x), ptr[C.double](reduced), ptr[C.double](rowValue), ptr[C.double](dual)), "reading the solution")
	return x, reduced, rowValue, dual, err
}
