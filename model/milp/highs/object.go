// SPDX-License-Identifier: MIT

package highs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// errMemory marks a model that needs more than the module may have.
var errMemory = errors.New("the model needs more than the 2 GiB of memory that HiGHS as WebAssembly can have")

// errLost marks an instance in which HiGHS has aborted: it can't be used any more.
var errLost = errors.New("it aborted")

// object is one HiGHS object in an instance of its own, used by one goroutine at a time but for
// stop and progress.
type object struct {
	*instance
	highs   uint32  // the object's address
	scratch uint32  // eight bytes for answers
	scale   float64 // of the costs, a power of two

	mutex sync.Mutex
	state milp.Progress
	known bool      // a MIP has reported
	best  []float64 // its latest improving solution
	cols  int

	log func(string)
}

// newObject returns an object with the options that every solve has.
func newObject(ctx context.Context, log func(string)) (*object, error) {
	s, err := newInstance(ctx)
	if err != nil {
		return nil, err
	}
	o := &object{instance: s, log: log, scale: 1, state: milp.Progress{Incumbent: math.NaN()}}
	s.callback = o.called
	if o.scratch, err = o.alloc(8); err == nil {
		var at int
		at, err = o.call("Highs_create")
		o.highs = uint32(at)
	}
	kinds := []int{simplexInterrupt, ipmInterrupt, improvingSolution, mipInterrupt}
	if log != nil {
		kinds = append(kinds, logging)
	}
	if err == nil {
		err = errors.Join(o.boolOption("output_flag", log != nil), o.boolOption("log_to_console", log != nil),
			o.apply(safeOptions), o.doubleOption("small_matrix_value", smallest), o.do("Highs_setCallback", int(s.place), 0))
	}
	for _, kind := range kinds {
		if err == nil {
			err = o.do("Highs_startCallback", kind)
		}
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// The kinds of callbacks that are asked for, and where their figures lie: HighsCallbackDataOut of 1.15.1 with pointers
// of four bytes.
const (
	logging, simplexInterrupt, ipmInterrupt, improvingSolution, mipInterrupt = 0, 1, 2, 4, 6

	outObjective, outNodes, outPrimal, outDual, outGap = 32, 40, 56, 64, 72
	outSolution, outSize                               = 80, 84
	outBytes                                           = 88
)

// called is HiGHS's callback while it solves. It must not call HiGHS.
func (o *object) called(kind int, message, out, in uint32) {
	if kind == logging {
		if o.log != nil {
			o.log(strings.TrimRight(o.text(message), "\n"))
		}
		return
	}
	if kind == mipInterrupt || kind == improvingSolution {
		var raw [outBytes]byte
		o.get(out, raw[:])
		float := func(at int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(raw[at:])) }
		o.mutex.Lock()
		o.known = true
		o.state.Bound, o.state.Gap = float(outDual)/o.scale, float(outGap)
		o.state.Nodes = int64(binary.LittleEndian.Uint64(raw[outNodes:]))
		if o.best != nil {
			o.state.Incumbent = float(outPrimal) / o.scale
		}
		if kind == improvingSolution && int(binary.LittleEndian.Uint32(raw[outSize:])) == o.cols {
			o.best = o.floats(binary.LittleEndian.Uint32(raw[outSolution:]), o.cols)
			o.state.Incumbent = float(outObjective) / o.scale
		}
		o.mutex.Unlock()
	}
	if in != 0 && o.stopped.Load() != 0 {
		o.put(in, []byte{1, 0, 0, 0})
	}
}

// text returns the C string at an address.
func (o *object) text(at uint32) string {
	var all []byte
	for {
		var b [1]byte
		if o.get(at, b[:]); b[0] == 0 {
			return string(all)
		}
		all = append(all, b[0])
		at++
	}
}

func (o *object) close() {
	if !o.lost && o.highs != 0 { // the rest lies in an instance that others use
		_, _ = o.call("Highs_destroy", o.highs)
		o.free(o.scratch)
	}
	o.release()
}

// free gives back memory of alloc; a lost instance goes whole.
func (o *object) free(at uint32) { _, _ = o.call("free", at) }

// alloc returns the address of size bytes.
func (o *object) alloc(size int) (uint32, error) {
	if size > math.MaxInt32 {
		return 0, fmt.Errorf("%w: %w", errSolver, errMemory)
	}
	at, err := o.call("malloc", size)
	if err == nil && at == 0 {
		err = fmt.Errorf("%w: %w", errSolver, errMemory)
	}
	return uint32(at), err
}

// ask calls a function of the object and returns its answer. Strings, []float64 and []int32 are copied into the memory
// while it runs and go as addresses, a nil slice as none; numbers go as they are.
func (o *object) ask(name string, values ...any) (code int, err error) {
	args := append(make([]any, 0, 1+len(values)), o.highs)
	var addresses []uint32
	defer func() {
		for _, at := range addresses {
			o.free(at)
		}
	}()
	for _, value := range values {
		var raw []byte
		switch v := value.(type) {
		case string:
			raw = append([]byte(v), 0)
		case []float64:
			if v != nil {
				raw = make([]byte, 8*len(v), 8*len(v)+8)
				for k, x := range v {
					binary.LittleEndian.PutUint64(raw[8*k:], math.Float64bits(x))
				}
			}
		case []int32:
			if v != nil {
				raw = make([]byte, 4*len(v), 4*len(v)+8)
				for k, x := range v {
					binary.LittleEndian.PutUint32(raw[4*k:], uint32(x))
				}
			}
		default:
			args = append(args, v)
			continue
		}
		at := uint32(0)
		if raw != nil { // HiGHS wants arrays even where they have no elements
			if at, err = o.alloc(max(8, len(raw))); err != nil {
				return 0, err
			}
			addresses = append(addresses, at)
			o.put(at, raw)
		}
		args = append(args, at)
	}
	return o.call(name, args...)
}

// do is ask where an answer below zero is an error. HiGHS may have kept a refused part and would solve it, so only
// close may follow such an error.
func (o *object) do(name string, values ...any) error {
	code, err := o.ask(name, values...)
	if err == nil && code < 0 {
		err = fmt.Errorf("%w: %s fails with code %d", errSolver, name, code)
	}
	return err
}

// floats returns the numbers at an address.
func (o *object) floats(at uint32, n int) []float64 {
	raw := make([]byte, 8*n)
	o.get(at, raw)
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return x
}

func (o *object) boolOption(name string, v bool) error {
	n := 0
	if v {
		n = 1
	}
	return o.do("Highs_setBoolOptionValue", name, n)
}
func (o *object) intOption(name string, v int) error { return o.do("Highs_setIntOptionValue", name, v) }
func (o *object) doubleOption(name string, v float64) error {
	return o.do("Highs_setDoubleOptionValue", name, v)
}
func (o *object) stringOption(name, v string) error {
	return o.do("Highs_setStringOptionValue", name, v)
}

// pass passes the model. Costs are scaled, since HiGHS's tolerances on the objective and on reduced costs are absolute.
func (o *object) pass(m *milp.Model, relax bool) error {
	n, nonzeros := len(m.Vars), 0
	for i := range m.Rows {
		nonzeros += len(m.Rows[i].Terms)
	}
	if nonzeros > math.MaxInt32/8 {
		return fmt.Errorf("%w: %w", errSolver, errMemory)
	}
	cost, lower, upper := make([]float64, n), make([]float64, n), make([]float64, n)
	var integrality []int32
	o.cols, o.scale = n, costScale(m)
	for j := range m.Vars {
		v := &m.Vars[j]
		cost[j], lower[j], upper[j] = v.Cost*o.scale, v.Lower, v.Upper
		if v.Integer && !relax {
			if integrality == nil {
				integrality = make([]int32, n)
			}
			integrality[j] = 1
		}
	}
	rowLower, rowUpper := make([]float64, len(m.Rows)), make([]float64, len(m.Rows))
	start, index, value := make([]int32, 0, len(m.Rows)+1), make([]int32, 0, nonzeros), make([]float64, 0, nonzeros)
	for i := range m.Rows {
		start = append(start, int32(len(index)))
		rowLower[i], rowUpper[i] = m.Rows[i].Lower, m.Rows[i].Upper
		for _, t := range m.Rows[i].Terms {
			// HiGHS takes the coefficient for 0, which is less than its tolerance where the variable has small bounds.
			if c, v := math.Abs(t.Coef), &m.Vars[t.Var]; c != 0 && c < smallest && c*max(math.Abs(v.Lower), math.Abs(v.Upper)) > 1e-9 {
				return fmt.Errorf("%w: row %d %q: HiGHS takes the coefficient %v of %q for 0: scale the row", model.ErrUnsupported, i, m.Rows[i].Name, t.Coef, v.Name)
			}
			index, value = append(index, int32(t.Var)), append(value, t.Coef)
		}
	}
	const rowwise = 2
	sense := 1
	if m.Maximise {
		sense = -1
	}
	args := []any{n, len(m.Rows), nonzeros, rowwise, sense, m.Offset * o.scale, cost, lower, upper, rowLower, rowUpper, append(start, int32(len(index))), index, value}
	if integrality == nil {
		return o.do("Highs_passLp", args...)
	}
	return o.do("Highs_passMip", append(args, integrality)...)
}

// costScale returns a power of two by which to multiply the costs. It keeps the largest below 2^20 and lifts the
// smallest, if possible, above HiGHS's absolute tolerances (1e-9 of the objective, 1e-7 of a reduced cost, of MIPs
// 1e-10). HiGHS 1.15.1 calls optima wrong, and gives false bounds, where all costs are 1e-8 and less.
func costScale(m *milp.Model) float64 {
	least, most := math.Inf(1), 0.0
	for j := range m.Vars {
		if c := math.Abs(m.Vars[j].Cost); c > 0 {
			least, most = min(least, c), max(most, c)
		}
	}
	const small, large = 1. / 64, 1 << 20
	scale := 1.0
	for most > 0 && least*scale < small && most*scale <= large/2 {
		scale *= 2
	}
	return scale
}

func (o *object) setStart(x []float64) error {
	return o.do("Highs_setSolution", x, []float64(nil), []float64(nil), []float64(nil))
}

// run solves and returns the feasibility tolerance with which it did.
//
// HiGHS now and then ends a MIP with a point that it then finds outside the model by more than the tolerance, and calls
// that a solve error. This happens after a presolve that went wrong, or when tolerances are tight. Such a model is
// solved again without presolve, then with HiGHS's own tolerances.
func (o *object) run(tolerance float64) (float64, error) {
	used := tolerance
	if used == 0 {
		used = defaultTolerance
	}
	solve := func() error { return errors.Join(o.do("Highs_zeroAllClocks"), o.do("Highs_run")) }
	err := solve()
	if err == nil || o.lost {
		return used, err
	}
	for _, change := range []func() error{
		func() error { return o.stringOption("presolve", "off") },
		func() error {
			used = defaultTolerance
			return o.apply(tolerances(0, 1e-9))
		},
		func() error { return o.stringOption("presolve", "choose") },
	} {
		if again := errors.Join(o.do("Highs_clearSolver"), change()); again != nil {
			return used, errors.Join(err, again)
		}
		if err = solve(); err == nil || o.lost {
			return used, err
		}
	}
	return used, err
}

// apply sets options.
func (o *object) apply(all []option) error {
	return apply(o.boolOption, o.intOption, o.doubleOption, all)
}

// progress returns the running solve's reports so far; any goroutine may ask.
func (o *object) progress() (p milp.Progress, x []float64, ok bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.state, o.best, o.known
}

// info writes one of HiGHS's figures to the scratch bytes; false if it has none.
func (o *object) info(kind, name string) bool {
	code, err := o.ask("Highs_get"+kind+"InfoValue", name, o.scratch)
	return err == nil && code == 0
}

func (o *object) doubleInfo(name string) float64 {
	if !o.info("Double", name) {
		return math.NaN()
	}
	return o.floats(o.scratch, 1)[0]
}

func (o *object) intInfo(name string) int {
	var raw [4]byte
	if o.info("Int", name) {
		o.get(o.scratch, raw[:])
	}
	return int(int32(binary.LittleEndian.Uint32(raw[:])))
}

func (o *object) int64Info(name string) int64 {
	var raw [8]byte
	if o.info("Int64", name) {
		o.get(o.scratch, raw[:])
	}
	return int64(binary.LittleEndian.Uint64(raw[:]))
}

// solution returns the point with reduced costs and dual values, in the model's own unit.
func (o *object) solution() (x, reduced, dual []float64, err error) {
	cols, err := o.call("Highs_getNumCol", o.highs)
	if err != nil {
		return nil, nil, nil, err
	}
	rows, err := o.call("Highs_getNumRow", o.highs)
	if err != nil {
		return nil, nil, nil, err
	}
	at, err := o.alloc(8 * (2*cols + rows + 1))
	if err != nil {
		return nil, nil, nil, err
	}
	defer o.free(at)
	reducedAt := at + uint32(8*cols)
	dualAt := reducedAt + uint32(8*cols)
	if err = o.do("Highs_getSolution", at, reducedAt, uint32(0), dualAt); err == nil {
		x, reduced, dual = o.floats(at, cols), o.floats(reducedAt, cols), o.floats(dualAt, rows)
		for _, costs := range [][]float64{reduced, dual} {
			for k := range costs {
				costs[k] /= o.scale
			}
		}
	}
	return x, reduced, dual, err
}

// ray returns multipliers of the rows that prove an LP infeasible, nil if HiGHS has none. It is asked for last: HiGHS may solve again
// for it, and forget how the run ended.
func (o *object) ray(rows int) ([]float64, error) {
	at, err := o.alloc(8 * (rows + 1))
	if err != nil {
		return nil, err
	}
	defer o.free(at)
	var y []float64
	err = errors.Join(o.stringOption("solver", "simplex"), o.do("Highs_zeroAllClocks"))
	if err == nil {
		var code int
		var has [4]byte
		o.put(o.scratch, has[:])
		if code, err = o.ask("Highs_getDualRay", o.scratch, at); err == nil && code == 0 {
			if o.get(o.scratch, has[:]); has[0] == 1 {
				y = o.floats(at, rows)
			}
		}
	}
	return y, err
}
