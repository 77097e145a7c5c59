// SPDX-License-Identifier: MIT

package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
)

// Missing lists the parts of a solution that DecodePartial has left empty. Each is missing of the whole solution or not
// at all.
type Missing struct {
	Starts     bool // of a Schedule's tasks, and all transfers; or the transfers of one that doesn't place each task
	CPU        bool // of a Placement
	PEs        bool // of Bookings
	Processors bool // of an Execution, and the ends of its segments
}

// DecodePartial reads a solution of an instance as another program writes it. Kind and version may be missing, tasks
// and jobs may be in another order, and a result that holds the solution will do. The following parts may be left out:
//
//   - of a Schedule the transfers: each then starts as soon as its producer has finished; or all start times, too:
//     tasks are then in the order in which their machine runs them;
//   - of a Placement all CPU shares;
//   - of Bookings all PEs;
//   - of Embeddings the start of a segment in loss mode, and the end of a request's
//     only segment: start plus duration;
//   - of an Execution the end of a job's only segment, on one tier: start plus work;
//     or all places and ends.
//
// Solutions of other problems are read whole, as DecodeSolution reads them. Parts that follow by arithmetic are filled
// in; the rest is Missing. Errors wrap ErrInvalid. Objective and the judge check whether the solution fits the
// instance, if that isn't needed here.
func DecodePartial(in Instance, data []byte) (Solution, Missing, error) {
	if len(data) == 0 {
		return nil, Missing{}, fmt.Errorf("%w solution: it is empty", ErrInvalid)
	}
	if err := checkJSONText(data); err != nil {
		if syntax := syntaxError(data); syntax != nil {
			err = syntax
		}
		return nil, Missing{}, err
	}
	var result struct {
		Status   *string         `json:"status"`
		Kind     Kind            `json:"kind"`
		Solution json.RawMessage `json:"solution"`
	}
	if json.Unmarshal(data, &result) == nil && result.Status != nil {
		if result.Kind != "" && result.Kind != in.Kind() {
			return nil, Missing{}, fmt.Errorf("%w result: kind is %q, the instance is a %s", ErrInvalid, result.Kind, in.Kind())
		}
		if len(result.Solution) == 0 || string(result.Solution) == "null" {
			return nil, Missing{}, fmt.Errorf("%w: the result is %q and holds no solution", ErrInvalid, *result.Status)
		}
		data = result.Solution
	}
	if in, ok := in.(interface {
		partial(data []byte) (Solution, Missing, error)
	}); ok {
		return in.partial(data)
	}
	s, err := DecodeSolution(data)
	if err == nil && s.Kind() != in.Kind() {
		err = fmt.Errorf("%w: a %s solution of a %s instance", ErrInvalid, s.Kind(), in.Kind())
	}
	return s, Missing{}, err
}

// decodePartial reads an object that may begin as instances and solutions do.
func decodePartial(k Kind, data []byte, target any, kind *Kind, version *int) error {
	if err := decodeStrict(data, target, false); err != nil {
		return err
	}
	if *kind != "" && *kind != k {
		return fmt.Errorf("%w solution: kind is %q, the instance is a %s", ErrInvalid, *kind, k)
	}
	if *version != 0 && *version != formatVersion {
		return fmt.Errorf("%w solution: version %d is not known, this program reads version %d", ErrInvalid, *version, formatVersion)
	}
	return nil
}

// inOrder sorts elements as the instance has them, if each of its ids is there once.
func inOrder[E any](elements []E, id func(*E) string, n int, at func(k int) string) {
	if len(elements) != n {
		return
	}
	ids := idFinder{n: n, at: at}
	sorted, seen := make([]E, n), make([]bool, n)
	for i := range elements {
		k, ok := ids.find(id(&elements[i]))
		if !ok || seen[k] {
			return
		}
		sorted[k], seen[k] = elements[i], true
	}
	copy(elements, sorted)
}

// allOrNone reports whether some of n elements lack an optional part; the error is ErrInvalid if others have it.
func allOrNone(key string, n int, has func(i int) bool) (missing bool, err error) {
	given := 0
	for i := range n {
		if has(i) {
			given++
		}
	}
	if given > 0 && given < n {
		return false, fmt.Errorf("%w solution: %q is there %d times of %d, give it always or never", ErrInvalid, key, given, n)
	}
	return given < n, nil
}

func (d *DAG) partial(data []byte) (Solution, Missing, error) {
	var f struct {
		Kind          Kind          `json:"kind,omitempty"`
		Version       int           `json:"version,omitempty"`
		TransferModel TransferModel `json:"transfer_model,omitempty"`
		Tasks         []struct {
			ID      string   `json:"id"`
			Machine string   `json:"machine"`
			StartS  *float64 `json:"start_s,omitempty"`
		} `json:"tasks"`
		Transfers []TransferStart `json:"transfers,omitempty"`
	}
	if err := decodePartial(KindDAG, data, &f, &f.Kind, &f.Version); err != nil {
		return nil, Missing{}, err
	}
	s := &Schedule{TransferModel: f.TransferModel, Transfers: f.Transfers}
	missing, err := allOrNone("start_s", len(f.Tasks), func(i int) bool { return f.Tasks[i].StartS != nil })
	if err != nil {
		return nil, Missing{}, err
	}
	for i := range f.Tasks {
		x := TaskStart{ID: f.Tasks[i].ID, Machine: f.Tasks[i].Machine, StartS: float64(i)} // the order on its machine
		if !missing {
			x.StartS = *f.Tasks[i].StartS
		}
		s.Tasks = append(s.Tasks, x)
	}
	inOrder(s.Tasks, func(x *TaskStart) string { return x.ID }, len(d.Tasks), func(k int) string { return d.Tasks[k].ID })
	if missing {
		if f.Transfers != nil {
			return nil, Missing{}, fmt.Errorf("%w solution: transfers start at times, but tasks don't; give \"start_s\" of the tasks or leave \"transfers\" out", ErrInvalid)
		}
		return s, Missing{Starts: true}, nil
	}
	if f.Transfers != nil {
		return s, Missing{}, nil
	}
	machine, err := d.MachineOf(s)
	if err != nil { // there are no transfers of a schedule that places only some tasks
		return s, Missing{Starts: true}, nil
	}
	index := make(map[string]int, len(d.Tasks))
	for t := range d.Tasks {
		index[d.Tasks[t].ID] = t
	}
	start, sent := make([]float64, len(d.Tasks)), make([]float64, len(d.Edges))
	for t := range start {
		start[t] = s.Tasks[t].StartS
	}
	for e, x := range d.Edges {
		t := index[x.From]
		sent[e] = start[t] + d.Cost(t, int(machine[t]))
	}
	whole := d.Schedule(machine, start, sent)
	whole.TransferModel = s.TransferModel
	return whole, Missing{}, nil
}

func (v *VCSched) partial(data []byte) (Solution, Missing, error) {
	var f struct {
		Kind    Kind `json:"kind,omitempty"`
		Version int  `json:"version,omitempty"`
		Jobs    []struct {
			ID    string    `json:"id"`
			Hosts []int     `json:"hosts"`
			CPU   []float64 `json:"cpu,omitempty"`
		} `json:"jobs"`
	}
	if err := decodePartial(KindVCSched, data, &f, &f.Kind, &f.Version); err != nil {
		return nil, Missing{}, err
	}
	missing, err := allOrNone("cpu", len(f.Jobs), func(i int) bool { return f.Jobs[i].CPU != nil })
	if err != nil {
		return nil, Missing{}, err
	}
	p := new(Placement)
	for _, j := range f.Jobs {
		if missing {
			j.CPU = make([]float64, len(j.Hosts))
		}
		p.Jobs = append(p.Jobs, JobPlacement{ID: j.ID, Hosts: j.Hosts, CPU: j.CPU})
	}
	inOrder(p.Jobs, func(x *JobPlacement) string { return x.ID }, len(v.Jobs), func(k int) string { return v.Jobs[k].ID })
	return p, Missing{CPU: missing}, nil
}

func (c *Consolidation) partial(data []byte) (Solution, Missing, error) {
	var f struct {
		Kind    Kind            `json:"kind,omitempty"`
		Version int             `json:"version,omitempty"`
		Bought  []BoughtHost    `json:"bought,omitempty"`
		Jobs    []JobAssignment `json:"jobs"`
	}
	if err := decodePartial(KindConsolidation, data, &f, &f.Kind, &f.Version); err != nil {
		return nil, Missing{}, err
	}
	inOrder(f.Jobs, func(x *JobAssignment) string { return x.ID }, len(c.Jobs), func(k int) string { return c.Jobs[k].ID })
	return &Assignment{Bought: f.Bought, Jobs: f.Jobs}, Missing{}, nil
}

func (r *Reservation) partial(data []byte) (Solution, Missing, error) {
	var f struct {
		Kind     Kind `json:"kind,omitempty"`
		Version  int  `json:"version,omitempty"`
		Goal     Goal `json:"goal,omitempty"`
		Online   bool `json:"online,omitempty"`
		Bookings []struct {
			ID     string  `json:"id"`
			StartS float64 `json:"start_s"`
			PEs    *PEList `json:"pes,omitempty"`
		} `json:"bookings"`
	}
	if err := decodePartial(KindReservation, data, &f, &f.Kind, &f.Version); err != nil {
		return nil, Missing{}, err
	}
	missing, err := allOrNone("pes", len(f.Bookings), func(i int) bool { return f.Bookings[i].PEs != nil })
	if err != nil {
		return nil, Missing{}, err
	}
	b := &Bookings{Goal: f.Goal, Online: f.Online, Bookings: []Booking{}}
	for _, x := range f.Bookings {
		y := Booking{ID: x.ID, StartS: x.StartS}
		if !missing {
			y.PEs = *x.PEs
		}
		b.Bookings = append(b.Bookings, y)
	}
	return b, Missing{PEs: missing}, nil
}

// partialRun is a Run with times, and perhaps places, that may be missing.
type partialRun[P any] struct {
	ID       string              `json:"id"`
	Segments []partialSegment[P] `json:"segments"`
}

type partialSegment[P any] struct {
	StartS *float64 `json:"start_s,omitempty"`
	EndS   *float64 `json:"end_s,omitempty"`
	Place  *P       `json:"place,omitempty"`
	Lost   bool     `json:"lost,omitempty"`
}

// wholeRun returns the run with its times. begins returns the start of a job's segment that states none. lasts returns
// the time of a job from its start to its end in one segment; false if the file must state it.
func wholeRun[P any](r *partialRun[P], begins, lasts func(id string) (float64, bool)) (Run[P], error) {
	bad := func(key, why string) (Run[P], error) {
		return Run[P]{}, fmt.Errorf("%w solution: the run of %q: %q is missing%s", ErrInvalid, r.ID, key, why)
	}
	run := Run[P]{ID: r.ID, Segments: []Segment[P]{}}
	for i := range r.Segments {
		x := &r.Segments[i]
		s := Segment[P]{Lost: x.Lost}
		if x.Place != nil {
			s.Place = *x.Place
		}
		switch start, ok := begins(r.ID); {
		case x.StartS != nil:
			s.StartS = *x.StartS
		case ok && i == 0:
			s.StartS = start
		default:
			return bad("start_s", "")
		}
		switch length, ok := lasts(r.ID); {
		case x.EndS != nil:
			s.EndS = *x.EndS
		case len(r.Segments) > 1:
			return bad("end_s", ", which a run of several segments must tell")
		case !ok:
			return bad("end_s", "")
		case s.StartS >= 0 && s.StartS <= latestTime:
			s.EndS = units.Seconds(units.Micro(s.StartS) + units.Micro(length))
		default: // Index refuses it
			s.EndS = s.StartS + length
		}
		run.Segments = append(run.Segments, s)
	}
	return run, nil
}

func (v *TVC) partial(data []byte) (Solution, Missing, error) {
	var f struct {
		Kind    Kind                    `json:"kind,omitempty"`
		Version int                     `json:"version,omitempty"`
		Runs    []partialRun[Embedding] `json:"runs"`
	}
	if err := decodePartial(KindTVC, data, &f, &f.Kind, &f.Version); err != nil {
		return nil, Missing{}, err
	}
	ids := idFinder{n: len(v.Requests), at: func(k int) string { return v.Requests[k].ID }}
	begins := func(id string) (float64, bool) {
		k, ok := ids.find(id)
		if !ok || v.Queue {
			return 0, !ok // Index refuses it
		}
		return v.Requests[k].ArrivalS, true
	}
	lasts := func(id string) (float64, bool) {
		if k, ok := ids.find(id); ok {
			return v.Requests[k].DurationS, true
		}
		return 0, true
	}
	e := &Embeddings{Runs: []Run[Embedding]{}}
	for i := range f.Runs {
		r, err := wholeRun(&f.Runs[i], begins, lasts)
		if err != nil {
			return nil, Missing{}, err
		}
		for k := range r.Segments {
			if f.Runs[i].Segments[k].Place == nil {
				return nil, Missing{}, fmt.Errorf("%w solution: the run of %q: \"place\" is missing", ErrInvalid, r.ID)
			}
		}
		e.Runs = append(e.Runs, r)
	}
	return e, Missing{}, nil
}

func (b *Batch) partial(data []byte) (Solution, Missing, error) {
	var f struct {
		Kind    Kind                     `json:"kind,omitempty"`
		Version int                      `json:"version,omitempty"`
		Runs    []partialRun[BatchPlace] `json:"runs"`
	}
	if err := decodePartial(KindBatch, data, &f, &f.Kind, &f.Version); err != nil {
		return nil, Missing{}, err
	}
	ids := idFinder{n: len(b.Jobs), at: func(k int) string { return b.Jobs[k].ID }}
	var places []*BatchPlace
	for i := range f.Runs {
		for k := range f.Runs[i].Segments {
			places = append(places, f.Runs[i].Segments[k].Place)
		}
	}
	missing, err := allOrNone("place", len(places), func(i int) bool { return places[i] != nil })
	if err != nil {
		return nil, Missing{}, err
	}
	if missing && slices.ContainsFunc(f.Runs, func(r partialRun[BatchPlace]) bool { return len(r.Segments) != 1 }) {
		return nil, Missing{}, fmt.Errorf("%w solution: without \"place\" each job has one segment", ErrInvalid)
	}
	begins := func(string) (float64, bool) { return 0, false }
	lasts := func(id string) (float64, bool) {
		k, ok := ids.find(id)
		switch {
		case !ok:
			return 0, true // Index refuses it
		case missing:
			return 0, true // it is filled in with the place
		}
		return b.Work(k), b.Tiers == 1
	}
	e := &Execution{Runs: []Run[BatchPlace]{}}
	for i := range f.Runs {
		r, err := wholeRun(&f.Runs[i], begins, lasts)
		if err != nil {
			return nil, Missing{}, err
		}
		e.Runs = append(e.Runs, r)
	}
	return e, Missing{Processors: missing}, nil
}
