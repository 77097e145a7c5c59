package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// formatVersion is the version of the own file formats.
const formatVersion = 1

// kinds makes the empty instance and solution of every problem.
var kinds = map[Kind]struct {
	instance func() Instance
	solution func() Solution
}{
	KindVCSched:     {func() Instance { return new(VCSched) }, func() Solution { return new(Placement) }},
	KindDAG:         {func() Instance { return new(DAG) }, func() Solution { return new(Schedule) }},
	KindReservation: {func() Instance { return new(Reservation) }, func() Solution { return new(Bookings) }},
}

// New returns the empty instance of a problem, nil if there is no such problem.
func (k Kind) New() Instance {
	if known, ok := kinds[k]; ok {
		return known.instance()
	}
	return nil
}

// Kinds lists the known problems in alphabetical order.
func Kinds() []Kind {
	var all []Kind
	for k := range kinds {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// envelope is what every file of ours says first.
type envelope struct {
	Kind    Kind `json:"kind"`
	Version int  `json:"version"`
}

// DecodeInstance reads one instance in the own format, strictly: unknown,
// missing and repeated keys are errors, and so is anything that Validate
// refuses. Errors wrap ErrInvalid and name line and key.
func DecodeInstance(data []byte) (Instance, error) {
	kind, err := peekKind(data, "instance")
	if err != nil {
		return nil, err
	}
	in := kinds[kind].instance()
	if err := decodeStrict(data, in, true); err != nil {
		return nil, err
	}
	err = in.Validate()
	var element *ElementError
	if errors.As(err, &element) && element.List != "" {
		element.Line = lineOfElement(data, element.List, element.Index)
	}
	return in, err
}

// DecodeSolution reads one solution, strictly like DecodeInstance. It doesn't
// know the instance; package verify tells whether the two fit.
func DecodeSolution(data []byte) (Solution, error) {
	kind, err := peekKind(data, "solution")
	if err != nil {
		return nil, err
	}
	s := kinds[kind].solution()
	return s, decodeStrict(data, s, true)
}

// peekKind reads the kind of an own file, which comes first where gapwise has
// written it.
func peekKind(data []byte, what string) (Kind, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return "", fmt.Errorf("%w %s: the file is empty", ErrInvalid, what)
	}
	if err := checkJSONText(data); err != nil {
		return "", err
	}
	d := decoder{data: data}
	if e, ok := d.peek(); ok && e.Version == formatVersion && kinds[e.Kind].instance != nil {
		return e.Kind, nil
	}
	var head struct {
		Kind    *Kind `json:"kind"`
		Version *int  `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return "", jsonError(data, err)
	}
	switch {
	case head.Kind == nil:
		return "", fmt.Errorf("%w %s: the key \"kind\" is missing, give one of %q", ErrInvalid, what, Kinds())
	case kinds[*head.Kind].instance == nil:
		return "", fmt.Errorf("%w %s: kind %q is unknown, give one of %q", ErrInvalid, what, *head.Kind, Kinds())
	case head.Version == nil:
		return "", fmt.Errorf("%w %s: the key \"version\" is missing, give %d", ErrInvalid, what, formatVersion)
	case *head.Version != formatVersion:
		return "", fmt.Errorf("%w %s: version %d is not known, this program reads version %d", ErrInvalid, what, *head.Version, formatVersion)
	}
	return *head.Kind, nil
}

// Hash identifies an instance by its content: "sha256:" and the hex digits of
// the SHA-256 of its compact JSON. White space and key order in the file that
// it came from don't matter, its name does.
func Hash(in Instance) (string, error) {
	e := encoder{sum: sha256.New()}
	var err error
	if in != nil && reflect.TypeOf(in) == reflect.TypeOf(in.Kind().New()) {
		err = e.own(in)
	} else {
		err = e.marshal(in)
	}
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	e.flush()
	return fmt.Sprintf("sha256:%x", e.sum.Sum(nil)), nil
}

// number is a float64 whose NaN and infinities are null in JSON.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// resultFile is a Result as it is stored.
type resultFile struct {
	Instance        string          `json:"instance"`
	InstanceHash    string          `json:"instance_hash"`
	Kind            Kind            `json:"kind"`
	Algorithm       string          `json:"algorithm"`
	Status          Status          `json:"status"`
	Objective       number          `json:"objective"`
	SecondObjective number          `json:"second_objective"`
	Bound           number          `json:"bound"`
	Gap             number          `json:"gap"`
	GapLimit        float64         `json:"gap_limit,omitempty"`
	ElapsedS        float64         `json:"elapsed_s"`
	Nodes           int64           `json:"nodes"`
	Seed            uint64          `json:"seed"`
	Version         string          `json:"version"`
	Unverified      bool            `json:"unverified,omitempty"`
	Reason          string          `json:"reason,omitempty"`
	Conflict        []string        `json:"conflict,omitempty"`
	Trace           []Round         `json:"trace,omitempty"`
	Solution        json.RawMessage `json:"solution,omitempty"`
}

// MarshalJSON writes the result as one object; unknown numbers are null.
func (r Result) MarshalJSON() ([]byte, error) {
	f := resultFile{Instance: r.Instance, InstanceHash: r.InstanceHash, Kind: r.Kind, Algorithm: r.Algorithm,
		Status: r.Status, Objective: number(r.Objective), SecondObjective: number(r.SecondObjective),
		Bound: number(r.Bound), Gap: number(r.Gap), GapLimit: r.GapLimit, ElapsedS: r.Elapsed.Seconds(), Nodes: r.Nodes,
		Seed: r.Seed, Version: r.Version, Unverified: r.Unverified, Reason: r.Reason, Conflict: r.Conflict, Trace: r.Trace}
	if r.Solution != nil {
		s, err := json.Marshal(r.Solution)
		if err != nil {
			return nil, err
		}
		f.Solution = s
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON writes, strictly.
func (r *Result) UnmarshalJSON(data []byte) error {
	var f resultFile
	err := decodeStrict(data, &f, false)
	if err == nil {
		*r, err = f.result()
	}
	return err
}

// result checks what stands in a result file and decodes its solution.
func (f *resultFile) result() (Result, error) {
	if !f.Status.Valid() {
		return Result{}, fmt.Errorf("%w result: status %q, must be one of optimal, feasible, infeasible, unknown", ErrInvalid, f.Status)
	}
	if kinds[f.Kind].instance == nil {
		return Result{}, fmt.Errorf("%w result: kind %q is unknown, give one of %q", ErrInvalid, f.Kind, Kinds())
	}
	r := Result{Instance: f.Instance, InstanceHash: f.InstanceHash, Kind: f.Kind, Algorithm: f.Algorithm,
		Status: f.Status, Objective: float64(f.Objective), SecondObjective: float64(f.SecondObjective),
		Bound: float64(f.Bound), Gap: float64(f.Gap), GapLimit: f.GapLimit, Elapsed: time.Duration(f.ElapsedS * float64(time.Second)),
		Nodes: f.Nodes, Seed: f.Seed, Version: f.Version, Unverified: f.Unverified, Reason: f.Reason, Conflict: f.Conflict, Trace: f.Trace}
	if len(f.Solution) > 0 && string(f.Solution) != "null" {
		s, err := DecodeSolution(f.Solution)
		if err != nil {
			return Result{}, err
		}
		if s.Kind() != f.Kind {
			return Result{}, fmt.Errorf("%w result: kind %q holds a %s solution", ErrInvalid, f.Kind, s.Kind())
		}
		r.Solution = s
	}
	return r, nil
}

// DecodeResult reads one result object, strictly: the solution file that
// gapwise writes.
func DecodeResult(data []byte) (Result, error) {
	f, err := decodeResultFile(data)
	if err != nil {
		return Result{}, err
	}
	return f.result()
}

func decodeResultFile(data []byte) (f resultFile, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return f, fmt.Errorf("%w result: the file is empty", ErrInvalid)
	}
	if err := checkJSONText(data); err != nil {
		if syntax := syntaxError(data); syntax != nil {
			return f, syntax
		}
		return f, err
	}
	return f, decodeStrict(data, &f, false)
}

// jsonError names the line of a JSON error.
func jsonError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%w JSON: line %d: %v", ErrInvalid, lineOf(data, syntax.Offset), err)
	case errors.As(err, &typ):
		return typeError(data, typ)
	}
	return fmt.Errorf("%w JSON: %w", ErrInvalid, err)
}

// lineOfElement is the line on which the element of a list begins, 0 if there
// is no such element.
func lineOfElement(data []byte, list string, index int) int {
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, key := range strings.Split(list, ".") {
		if _, err := dec.Token(); err != nil { // the object's brace
			return 0
		}
		for {
			tok, err := dec.Token()
			if err != nil {
				return 0
			}
			if tok == key {
				break
			}
			var skip json.RawMessage
			if dec.Decode(&skip) != nil {
				return 0
			}
		}
	}
	if _, err := dec.Token(); err != nil { // the list's bracket
		return 0
	}
	var skip json.RawMessage
	for range index {
		if dec.Decode(&skip) != nil {
			return 0
		}
	}
	at := dec.InputOffset()
	for at < int64(len(data)) && bytes.IndexByte([]byte(", \t\r\n"), data[at]) >= 0 {
		at++
	}
	return lineOf(data, at)
}

func lineOf(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
