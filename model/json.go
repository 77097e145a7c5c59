// SPDX-License-Identifier: MIT

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
	"sync"
	"time"
)

// formatVersion is the version of gapwise's file formats.
const formatVersion = 1

// envelope holds the keys that come first in every instance and solution file.
type envelope struct {
	Kind    Kind `json:"kind"`
	Version int  `json:"version"`
}

// DecodeInstance reads one instance in gapwise's format, strictly. Unknown, missing and repeated keys are errors, and
// so is anything that Validate refuses. Errors wrap ErrInvalid and name line and key.
func DecodeInstance(data []byte) (Instance, error) {
	kind, err := peekKind(data, "instance")
	if err != nil {
		return nil, err
	}
	in := kind.format().Instance()
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

// DecodeSolution reads one solution as strictly as DecodeInstance. Package verify decides whether it fits an instance.
func DecodeSolution(data []byte) (Solution, error) {
	kind, err := peekKind(data, "solution")
	if err != nil {
		return nil, err
	}
	s := kind.format().Solution()
	return s, decodeStrict(data, s, true)
}

// peekKind returns the kind of a file in gapwise's format. It is fast where kind
// and version come first, as gapwise writes them.
func peekKind(data []byte, what string) (Kind, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return "", fmt.Errorf("%w %s: the file is empty", ErrInvalid, what)
	}
	if err := checkJSONText(data); err != nil {
		return "", err
	}
	d := decoder{data: data}
	if e, ok := d.peek(); ok && e.Version == formatVersion && e.Kind.format() != nil {
		return e.Kind, nil
	}
	var head struct {
		Kind    *Kind `json:"kind"`
		Version *int  `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return "", JSONError(data, err)
	}
	switch {
	case head.Kind == nil:
		return "", fmt.Errorf("%w %s: the key \"kind\" is missing, give one of %q", ErrInvalid, what, Kinds())
	case head.Kind.format() == nil:
		return "", fmt.Errorf("%w %s: kind %q is unknown, give one of %q", ErrInvalid, what, *head.Kind, Kinds())
	case head.Version == nil:
		return "", fmt.Errorf("%w %s: the key \"version\" is missing, give %d", ErrInvalid, what, formatVersion)
	case *head.Version != formatVersion:
		return "", fmt.Errorf("%w %s: version %d is not known, this program reads version %d", ErrInvalid, what, *head.Version, formatVersion)
	}
	return *head.Kind, nil
}

// Hash identifies an instance by its content: it returns "sha256:" and the hex
// digits of the SHA-256 of its compact JSON. White space and key order in its
// file don't matter, its name does, and its Account doesn't.
func Hash(in Instance) (string, error) {
	sum := sha256.New()
	if err := WriteJSON(sum, withoutAccount(in)); err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil)), nil
}

// number is a float64 that JSON holds as null if it is NaN or infinite.
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

// resultFile holds the keys of a result file, without the problem's details.
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
	SolutionOf      string          `json:"solution_of,omitempty"`
	BoundOf         string          `json:"bound_of,omitempty"`
	Reason          string          `json:"reason,omitempty"`
	Evidence        json.RawMessage `json:"evidence,omitempty"`
	Account         *Account        `json:"account,omitempty"`
	Solution        json.RawMessage `json:"solution,omitempty"`
}

// MarshalJSON writes the result as one object. Unknown figures are null.
func (r Result) MarshalJSON() ([]byte, error) {
	var e encoder
	err := e.result(&r)
	return e.all(), err
}

// result writes a result, its solution last.
func (e *encoder) result(r *Result) error {
	f := resultFile{Instance: r.Instance, InstanceHash: r.InstanceHash, Kind: r.Kind, Algorithm: r.Algorithm,
		Status: r.Status, Objective: number(r.Objective), SecondObjective: number(r.SecondObjective),
		Bound: number(r.Bound), Gap: number(r.Gap), GapLimit: r.GapLimit, ElapsedS: r.Elapsed.Seconds(), Nodes: r.Nodes,
		Seed: r.Seed, Version: r.Version, Unverified: r.Unverified, SolutionOf: r.SolutionOf, BoundOf: r.BoundOf, Reason: r.Reason, Account: r.Account}
	if r.Evidence != nil {
		text, err := json.Marshal(r.Evidence)
		if err != nil {
			return err
		}
		f.Evidence = text
	}
	kind := r.Kind
	if r.Details != nil {
		kind = r.Details.Kind()
	}
	v := reflect.New(resultType(kind)).Elem()
	copyFields(v, reflect.ValueOf(f))
	if r.Details != nil {
		copyFields(v, reflect.ValueOf(r.Details).Elem())
	}
	err := e.object(planOf(v.Type(), false), v)
	if err == nil && r.Solution != nil { // the last key
		e.text = append(e.text[:len(e.text)-1], `,"solution":`...)
		var own Solution
		if f := r.Solution.Kind().format(); f != nil {
			own = f.Solution()
		}
		err = e.solution(r.Solution, own)
		e.text = append(e.text, '}')
	}
	return err
}

// solution writes an instance or a solution. json.Marshal would read the output of this package's types once more, such
// as own's; other types write themselves.
func (e *encoder) solution(x, own interface{ Kind() Kind }) error {
	if own != nil && reflect.TypeOf(x) == reflect.TypeOf(own) {
		return e.own(x)
	}
	return e.marshal(x)
}

// resultTypes caches the types of resultType by kind.
var resultTypes sync.Map

// resultType returns the struct type that holds the keys of a problem's results: the keys of resultFile, with the
// details' keys before the solution.
func resultType(k Kind) reflect.Type {
	if t, ok := resultTypes.Load(k); ok {
		return t.(reflect.Type)
	}
	fields := reflect.VisibleFields(reflect.TypeFor[resultFile]())
	if f := k.format(); f != nil && f.Details != nil {
		last := len(fields) - 1
		fields = slices.Concat(fields[:last], reflect.VisibleFields(reflect.TypeOf(f.Details()).Elem()), fields[last:])
	}
	for i := range fields {
		fields[i] = reflect.StructField{Name: fields[i].Name, Type: fields[i].Type, Tag: fields[i].Tag}
	}
	t := reflect.StructOf(fields)
	resultTypes.Store(k, t)
	return t
}

// copyFields copies the fields of one struct to the fields of the same names in another.
func copyFields(to, from reflect.Value) {
	for i := range to.NumField() {
		if v := from.FieldByName(to.Type().Field(i).Name); v.IsValid() {
			to.Field(i).Set(v)
		}
	}
}

// UnmarshalJSON reads the output of MarshalJSON, strictly.
func (r *Result) UnmarshalJSON(data []byte) error {
	f, details, err := decodeResultFile(data)
	if err == nil {
		*r, err = f.result(details)
	}
	return err
}

// result checks a result file's status and kind and decodes its solution.
func (f *resultFile) result(details Details) (Result, error) {
	if !f.Status.Valid() {
		return Result{}, fmt.Errorf("%w result: status %q, must be one of optimal, feasible, infeasible, unknown", ErrInvalid, f.Status)
	}
	if f.Kind.format() == nil {
		return Result{}, fmt.Errorf("%w result: kind %q is unknown, give one of %q", ErrInvalid, f.Kind, Kinds())
	}
	r := Result{Instance: f.Instance, InstanceHash: f.InstanceHash, Kind: f.Kind, Algorithm: f.Algorithm,
		Status: f.Status, Objective: float64(f.Objective), SecondObjective: float64(f.SecondObjective),
		Bound: float64(f.Bound), Gap: float64(f.Gap), GapLimit: f.GapLimit, Elapsed: time.Duration(math.Round(f.ElapsedS * float64(time.Second))),
		Nodes: f.Nodes, Seed: f.Seed, Version: f.Version, Unverified: f.Unverified, SolutionOf: f.SolutionOf, BoundOf: f.BoundOf, Reason: f.Reason, Account: f.Account, Details: details}
	if len(f.Evidence) > 0 && string(f.Evidence) != "null" {
		e, err := decodeEvidence(f.Evidence)
		if err != nil {
			return Result{}, err
		}
		r.Evidence = e
	}
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

// DecodeResult reads one result, the file that gapwise solve writes, as strictly
// as DecodeInstance.
func DecodeResult(data []byte) (Result, error) {
	f, details, err := decodeResultFile(data)
	if err != nil {
		return Result{}, err
	}
	return f.result(details)
}

// decodeResultFile reads a result and its details, nil if it has none.
func decodeResultFile(data []byte) (f resultFile, details Details, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil, fmt.Errorf("%w result: the file is empty", ErrInvalid)
	}
	if err := checkJSONText(data); err != nil {
		if syntax := syntaxError(data); syntax != nil {
			return f, nil, syntax
		}
		return f, nil, err
	}
	kind := resultKind(data)
	v := reflect.New(resultType(kind))
	if err := decodeStrict(data, v.Interface(), false); err != nil {
		return f, nil, err
	}
	copyFields(reflect.ValueOf(&f).Elem(), v.Elem())
	if format := kind.format(); format != nil && format.Details != nil {
		details = format.Details()
		copyFields(reflect.ValueOf(details).Elem(), v.Elem())
		if reflect.ValueOf(details).Elem().IsZero() {
			details = nil
		}
	}
	return f, details, nil
}

// resultKind returns the kind of a result, "" if it names none. It stops at that
// key, the third as gapwise writes it.
func resultKind(data []byte) (kind Kind) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return ""
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return ""
		}
		if key == "kind" && json.Unmarshal(value, &kind) == nil {
			return kind
		}
	}
	return ""
}

// JSONError adds the line, and the path of a value of the wrong type, to an
// error of encoding/json about data. The result wraps ErrInvalid.
func JSONError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		what := err.Error()
		if strings.Contains(what, "after top-level value") {
			what = "there is more after the first value, give one alone"
		}
		return fmt.Errorf("%w JSON: line %d: %s", ErrInvalid, lineOf(data, syntax.Offset), what)
	case errors.As(err, &typ):
		return typeError(data, typ)
	}
	return fmt.Errorf("%w JSON: %w", ErrInvalid, err)
}

// lineOfElement returns the line on which an element of a list begins, 0 if there
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

// lineOf returns the line, from 1, of the byte at an offset.
func lineOf(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
