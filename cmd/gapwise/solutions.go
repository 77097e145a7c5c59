// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// solutionFile is one entry of a file of results, or a bare solution.
type solutionFile struct {
	line     int // on which it begins; 0 for the only one
	result   *model.Result
	solution model.Solution // nil for a result without one
}

// readResults reads a bare solution of the instance, which may leave out parts that follow from the rest, a result, or
// several results one after the other, as gapwise solve writes them.
func readResults(ctx context.Context, in model.Instance, path string) ([]solutionFile, error) {
	data, err := instances.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return resultsIn(ctx, in, path, data)
}

func resultsIn(ctx context.Context, in model.Instance, path string, data []byte) ([]solutionFile, error) {
	found, err := parseSolutions(instances.Label(path), data)
	if err == nil {
		return found, nil
	}
	if keys := keysOf(data); keys != nil && !keys["status"] {
		s, e := gapwise.CompleteSolution(ctx, in, data)
		if e == nil {
			return []solutionFile{{solution: s}}, nil
		}
		if _, _, unread := model.DecodePartial(in, data); !keys["kind"] || unread == nil { // it isn't meant to be whole
			err = fmt.Errorf("%s: %w", instances.Label(path), e)
		}
	}
	return found, err
}

// readSolutionsOf is readResults and requires at least one solution.
func readSolutionsOf(ctx context.Context, in model.Instance, path string) ([]solutionFile, error) {
	data, err := instances.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return solutionsIn(ctx, in, path, data)
}

func solutionsIn(ctx context.Context, in model.Instance, path string, data []byte) ([]solutionFile, error) {
	found, err := resultsIn(ctx, in, path, data)
	switch {
	case err != nil || firstSolution(found) != nil:
		return found, err
	case len(found) > 1:
		return nil, fmt.Errorf("%s: %w: none of the %d results holds a solution", instances.Label(path), model.ErrInvalid, len(found))
	}
	return nil, fmt.Errorf("%s: %w: the result is %q and holds no solution; gapwise explain tells what it holds", instances.Label(path), model.ErrInvalid, found[0].result.Status)
}

func parseSolutions(label string, data []byte) ([]solutionFile, error) {
	var parts []jsonPart
	if !json.Valid(data) { // a single value, which may be large, isn't copied
		parts = splitJSON(data)
	}
	if len(parts) < 2 {
		one, err := decodeSolution(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		return []solutionFile{one}, nil
	}
	var all []solutionFile
	for _, p := range parts {
		one, err := decodeSolution(p.data)
		if err == nil && one.result == nil {
			_, err = model.DecodeResult(p.data) // states the missing part
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", label, p.line, err)
		}
		one.line = p.line
		all = append(all, one)
	}
	return all, nil
}

type jsonPart struct {
	line int
	data []byte
}

// splitJSON finds the values that follow one another; nothing if the data aren't such values.
func splitJSON(data []byte) (parts []jsonPart) {
	dec := json.NewDecoder(bytes.NewReader(data))
	for dec.More() {
		var x json.RawMessage
		if dec.Decode(&x) != nil {
			return nil
		}
		begin := dec.InputOffset() - int64(len(x))
		parts = append(parts, jsonPart{1 + bytes.Count(data[:begin], []byte("\n")), x})
	}
	return parts
}

// decodeSolution reads a result or a bare solution. A value with a status is a result: it is read as one, or not at
// all.
func decodeSolution(data []byte) (f solutionFile, err error) {
	switch has := keysOf(data); {
	case bool(has["plan"]):
		return f, fmt.Errorf("%w solution: this is a line of gapwise bench, which has figures alone: gapwise bench --solutions FOLDER keeps the solutions", model.ErrInvalid)
	case bool(has["status"]):
		r, err := model.DecodeResult(data)
		return solutionFile{result: &r, solution: r.Solution}, err
	}
	f.solution, err = model.DecodeSolution(data)
	what := ""
	if torn := bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && !json.Valid(data); err != nil && !torn {
		what = heldBy(data)
	}
	switch {
	case err == nil:
	case what != "":
		err = fmt.Errorf("%w solution: %s; solutions and results are as gapwise solve -o writes them", model.ErrInvalid, what)
	case instances.IsTable(data):
		err = fmt.Errorf("%w solution: it looks like a table; solutions and results are JSON, as gapwise solve -o writes them", model.ErrInvalid)
	}
	return f, err
}

// heldBy puts in words what data of a format that gapwise knows hold, and which command reads it; "" for others. It is
// asked for a file that was handed to a command which doesn't read it.
func heldBy(data []byte) string {
	f, err := instances.OpenData("", data)
	if err != nil {
		return ""
	}
	if _, what, found := strings.Cut(fmt.Sprint(f.Unread()), " instance: "); found {
		return what
	}
	if in, err := model.DecodeInstance(f.Text()); err == nil {
		return fmt.Sprintf("it holds an instance of %s; gapwise solve, bench -a NAMES, explain and report read it", in.Kind())
	}
	return ""
}

// keysOf returns the keys of an object; none if the data aren't one. Text that isn't JSON at all gets its message from
// the decoders.
func keysOf(data []byte) (keys map[string]present) {
	if json.Unmarshal(data, &keys) != nil {
		return nil
	}
	return keys
}

// present is a value that isn't copied.
type present bool

func (p *present) UnmarshalJSON([]byte) error { *p = true; return nil }

func firstSolution(all []solutionFile) model.Solution {
	for _, f := range all {
		if f.solution != nil {
			return f.solution
		}
	}
	return nil
}

// sense returns the direction in which the objective of a solution's problem
// improves.
func sense(s model.Solution) model.Sense { return model.SenseOf(s.Kind().New()) }

// claimed returns the one result or solution of a file that is meant, by --algorithm if there are several. The instance
// becomes the variant for which it was made, with the hash that is returned.
func claimed(c *cli.Command, in *model.Instance, paths []string, found []solutionFile) (one solutionFile, hash string, err error) {
	*in = asSolved(c, *in, firstSolution(found))
	if err := (*in).Validate(); err != nil {
		return one, "", fmt.Errorf("%s: %w", instances.Label(paths[0]), err)
	}
	if hash, err = model.Hash(*in); err != nil {
		return one, hash, err
	}
	one, err = pick(paths[1], found, c.String("algorithm"), hash)
	if err == nil && one.result != nil && one.result.InstanceHash != hash {
		err = otherInstance(*in, one.result, paths, hash)
	}
	return one, hash, err
}

// pick returns the solution by the named algorithm or, without a name, the best
// by the results' own figures. Results for an instance of another hash are left out unless hash is empty.
func pick(path string, all []solutionFile, algorithm, hash string) (solutionFile, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	var best *solutionFile
	for i := range all {
		f := &all[i]
		switch {
		case f.solution == nil, hash != "" && f.result.InstanceHash != hash, algorithm != "" && f.result.Algorithm != algorithm:
		case best == nil || sense(f.solution).Better(f.result.Objective, best.result.Objective):
			best = f
		}
	}
	if best == nil {
		what := "solution"
		if algorithm != "" {
			what = fmt.Sprintf("solution by %q", algorithm)
		}
		return solutionFile{}, fmt.Errorf("%s: %w: none of the %d results is a %s of this instance", instances.Label(path), model.ErrInvalid, len(all), what)
	}
	return *best, nil
}
