// SPDX-License-Identifier: MIT

// Package runs holds written runs: their records, the results of all together on an instance, and one registry of
// measures. Tables, curves and comparisons are views of it.
package runs

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// Record is one run: one line of a results file. Unknown figures are absent. The
// solution of a sealed record has passed the judge, unless Verified is false.
type Record struct {
	Plan     string     `json:"plan"`
	Instance string     `json:"instance"`
	Hash     string     `json:"instance_hash"`
	Kind     model.Kind `json:"kind"`
	// Variants holds the variants of the instance, by flag, that aren't the
	// default ones.
	Variants map[string]string  `json:"variants,omitempty"`
	Params   map[string]float64 `json:"params,omitempty"` // of the instance's generator
	// Features holds the computed features of the instance (FeatureValues). A parameter of the same key goes before it,
	// see parameters.
	Features  map[string]float64 `json:"features,omitempty"`
	Algorithm string             `json:"algorithm"` // the label
	Options   string             `json:"options,omitempty"`
	// Program is a digest of the user's program that the algorithm is (process.Command.Digest), or of a function's source:
	// once it has changed, the run is another one.
	Program   string       `json:"program,omitempty"`
	Seed      uint64       `json:"seed"`
	Status    model.Status `json:"status"`
	Objective *float64     `json:"objective,omitempty"`
	Second    *float64     `json:"second_objective,omitempty"`
	Bound     *float64     `json:"bound,omitempty"`
	Gap       *float64     `json:"gap,omitempty"`
	// Metrics holds the further metrics and the figures of the result's details, by key, and the results of Halves.
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	ElapsedS float64            `json:"elapsed_s"`
	// CPUS is the CPU time of the process and of its children that have ended, in seconds,
	// from the start of the run to the end of its judgement. It is known if no other run was
	// at work (bench --workers 1).
	CPUS *float64 `json:"cpu_s,omitempty"`
	// Trajectory shows how objective and bound improved while the algorithm ran, in at most 64 moments. It is empty for
	// an algorithm that doesn't report progress.
	Trajectory []Moment `json:"trajectory,omitempty"`
	Nodes      int64    `json:"nodes"`
	Verified   bool     `json:"verified"`
	Reason     string   `json:"reason,omitempty"`
	// SolutionFile names the file with the run's result and its solution, as seen from
	// the folder of the results file, with slashes; empty if it wasn't kept.
	SolutionFile string `json:"solution_file,omitempty"`
	Version      string `json:"version"`
	// Commit is the build's commit (gapwise.Build), empty if it isn't known. Tools names the versions of Go, of HiGHS
	// and of the program that is the engine, if one is.
	Commit string `json:"commit,omitempty"`
	Tools  string `json:"tools,omitempty"`
	// Run is the number of the run among the Runs of its plan, from 1, as the plan was when it ran: PlanDigest
	// distinguishes plans of different runs. Shard is its share of the plan, "3/8", empty for the whole plan.
	Run        int    `json:"run,omitempty"`
	Runs       int    `json:"runs,omitempty"`
	PlanDigest string `json:"plan_digest,omitempty"`
	Shard      string `json:"shard,omitempty"`
	// Host and CPU name its computer and the model of processor.
	Host string `json:"host,omitempty"`
	CPU  string `json:"cpu,omitempty"`
	// Seal is a digest of the other fields. Records that gapwise bench wrote and that haven't changed since are Sealed:
	// their bounds and proofs are gapwise's, everything else is only stated. The seal reveals mistakes and lines
	// written by hand; it doesn't stop a forger.
	Seal   string `json:"seal,omitempty"`
	Sealed bool   `json:"-"`

	File string `json:"-"` // where it was read
	Line int    `json:"-"`
	// Cut says that the line after it is cut off, the file's last one.
	Cut bool `json:"-"`
}

// AdHocPrefix begins the names of plans that nobody has written and named: the rest is the names of files.
const AdHocPrefix = "bench-"

// The algorithms that plans alone have.
const GLPK, Relaxation = "glpk", "relaxation"

// The keys of Metrics, and columns, of the half-widths of confidence intervals.
const firstHalf, secondHalf = objectiveKey + " ±", secondKey + " ±"

// The keys of both objectives, whatever they are.
const objectiveKey, secondKey = "objective", "second"

// Key identifies the run within its plan.
func (r *Record) Key() string { return fmt.Sprintf("%s\x00%s\x00%d", r.Instance, r.Algorithm, r.Seed) }

// Optional returns a pointer to a figure, nil if it isn't known or infinite.
func Optional(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Objectives returns the metrics of the objective and of the one that breaks ties.
func (r *Record) Objectives() (first, second model.Metric) {
	all := r.metrics()
	return all[0], all[1]
}

// Name returns the name of the run's algorithm, whatever its label.
func (r *Record) Name() string {
	if first, ok := strings.CutPrefix(r.Options, "algorithm="); ok {
		name, _, _ := strings.Cut(first, " ")
		return name
	}
	return r.Algorithm
}

// Class returns the class of the run's algorithm.
func (r *Record) Class() model.Class {
	name := r.Name()
	if name == GLPK || name == Relaxation {
		return model.Yardstick
	}
	return gapwise.ClassOf(r.Kind, name)
}

// metrics returns the metrics of the run's instance, its two objectives first.
func (r *Record) metrics() []model.Metric {
	in := r.Kind.New()
	p, err := gapwise.ProblemOf(r.Kind)
	if err != nil {
		return in.Metrics()
	}
	for _, v := range p.Variants {
		if value, ok := r.Variants[v.Flag]; ok && slices.Contains(v.Values, value) {
			in = v.With(in, value)
		}
	}
	return in.Metrics()
}

// New returns the record of a result. The parameters come from the instance's generator, the features from
// FeatureValues; the caller has the features for several runs. The caller fills in the plan, how it ran and the name.
func New(in model.Instance, params, features map[string]float64, r model.Result) (Record, error) {
	variants, metrics := map[string]string{}, map[string]float64{}
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return Record{}, err
	}
	empty := in.Kind().New()
	for _, v := range p.Variants {
		if value := v.Get(in); value != v.Get(empty) {
			variants[v.Flag] = value
		}
	}
	if further := in.Metrics()[2:]; r.Solution != nil && len(further) > 0 {
		o, err := in.Objective(r.Solution)
		if err != nil {
			return Record{}, err
		}
		for k, x := range o.Others {
			metrics[further[k].Key] = x
		}
	}
	if r.Details != nil {
		maps.Copy(metrics, r.Details.Figures())
	}
	if r.Solution != nil {
		if metrics[firstHalf], metrics[secondHalf], err = Halves(in, r.Solution); err != nil {
			return Record{}, err
		}
		if err := jobMetrics(in, r.Solution, metrics); err != nil {
			return Record{}, err
		}
	}
	maps.DeleteFunc(metrics, func(_ string, x float64) bool { return Optional(x) == nil })
	return Record{Instance: in.ID(), Hash: r.InstanceHash, Kind: r.Kind, Variants: variants, Params: params, Features: features, Algorithm: r.Algorithm,
		Seed: r.Seed, Status: r.Status, Objective: Optional(r.Objective), Second: Optional(r.SecondObjective), Metrics: metrics,
		Bound: Optional(r.Bound), Gap: Optional(r.Gap), ElapsedS: r.Elapsed.Seconds(), Nodes: r.Nodes,
		Verified: r.Solution != nil && !r.Unverified, Reason: r.Reason, Version: r.Version, Commit: Built().Commit,
		Host: Here().Host, CPU: Here().CPU}, nil
}

// Built is the build that this is.
var Built = sync.OnceValue(gapwise.Built)

// seal returns the digest of the record without its seal.
func (r Record) seal() (string, error) {
	r.Seal = ""
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.16x", sha256.Sum256(data)), nil
}

// Encode returns the record, sealed, as a line of a results file.
func (r Record) Encode() ([]byte, error) {
	var err error
	if r.Seal, err = r.seal(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(r)
	return append(data, '\n'), err
}

// At states, for messages, where the record was read.
func (r *Record) At() string {
	if r.File == "" {
		return fmt.Sprintf("a run of %s on %s", r.Algorithm, r.Instance)
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// maxRecord bounds the bytes of a line. gapwise bench writes none as long.
const maxRecord = 1 << 20

// ReadRecords reads a results file (see DecodeRecords).
func ReadRecords(file string) ([]Record, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, _, err := DecodeRecords(f, file)
	return records, err
}

// DecodeRecords reads the lines of a results file of a name. It drops a last line that is cut off, as of a
// program that was killed while it wrote; whole is the number of bytes before
// it.
func DecodeRecords(in io.Reader, name string) (records []Record, whole int64, err error) {
	lines := bufio.NewReaderSize(in, maxRecord)
	for number := 1; ; number++ {
		bad := func(format string, args ...any) ([]Record, int64, error) {
			return nil, 0, fmt.Errorf("%w results: %s line %d: %w", model.ErrInvalid, name, number, fmt.Errorf(format, args...))
		}
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return bad("it is longer than %d bytes, this is no file of gapwise bench", maxRecord)
		case err != nil && err != io.EOF:
			return nil, 0, err
		case len(line) == 0:
			return records, whole, nil
		}
		r, wrong := decodeRecord(line)
		if wrong != nil && err == io.EOF && Torn(line, Begins) {
			if len(records) > 0 {
				records[len(records)-1].Cut = true
			}
			return records, whole, nil
		}
		if wrong != nil && number == 1 && bytes.HasPrefix(line, []byte{0x1f, 0x8b}) {
			return bad("it is gzipped, unfold it with gunzip")
		}
		if wrong != nil && number == 1 && !bytes.HasPrefix(line, []byte(Begins)) {
			return bad("no run of gapwise bench (%w); an instance or what gapwise solve writes goes to report, explain or gantt", wrong)
		}
		if wrong != nil {
			return bad("%w", wrong)
		}
		r.File, r.Line = name, number
		records = append(records, r)
		whole += int64(len(line))
	}
}

// Begins begins the line of every run.
const Begins = `{"plan":"`

// Torn reports whether a line may be a part of a longer one that begins with
// begins.
func Torn(line []byte, begins string) bool {
	n := min(len(line), len(begins))
	return string(line[:n]) == begins[:n]
}

func decodeRecord(line []byte) (Record, error) {
	var r Record
	if !utf8.Valid(line) {
		return r, errors.New("it holds bytes that aren't UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) && mistyped.Field != "" {
			return r, fmt.Errorf("the key %q has another type, %s", mistyped.Field, mistyped.Value)
		} else if mistyped != nil {
			return r, fmt.Errorf("an object is wanted, there is another type, %s", mistyped.Value)
		}
		return r, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case dec.More():
		return r, errors.New("something follows the run")
	case r.Kind.New() == nil:
		return r, fmt.Errorf("kind is %q, must be one of %q", r.Kind, model.Kinds())
	case r.Instance == "" || r.Algorithm == "" || !r.Status.Valid():
		return r, errors.New("instance, algorithm or status is missing")
	}
	if err := checkTrajectory(r.Trajectory); err != nil {
		return r, err
	}
	seal, err := r.seal()
	r.Sealed = err == nil && r.Seal == seal
	return r, err
}

// WriteRecords writes records as lines of a results file, as they are: those that are
// sealed stay so, the others don't become it.
func WriteRecords(w io.Writer, records []Record) error {
	out := bufio.NewWriter(w)
	var errs error
	for i := range records {
		data, err := json.Marshal(records[i])
		if err != nil {
			return err
		}
		_, err = out.Write(append(data, '\n'))
		errs = errors.Join(errs, err)
	}
	return errors.Join(errs, out.Flush())
}

// Stated returns the record of a result that a file states: it isn't sealed. Line is the result's line in the file.
func Stated(r model.Result, file string, line int) (Record, error) {
	rec := Record{Instance: r.Instance, Hash: r.InstanceHash, Kind: r.Kind, Algorithm: r.Algorithm, Seed: r.Seed, Status: r.Status,
		Objective: Optional(r.Objective), Second: Optional(r.SecondObjective), Bound: Optional(r.Bound), Gap: Optional(r.Gap),
		ElapsedS: r.Elapsed.Seconds(), Nodes: r.Nodes, Reason: r.Reason, Version: r.Version, File: file, Line: line}
	if r.Kind.New() == nil || r.Algorithm == "" || r.InstanceHash == "" {
		return rec, fmt.Errorf("%w result: %s: kind, algorithm or instance_hash is missing", model.ErrInvalid, rec.At())
	}
	return rec, nil
}
