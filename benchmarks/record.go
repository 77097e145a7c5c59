package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/gapwise/gapwise/model"
)

// Record is one run, one line of a results file. Figures that aren't known are
// absent. Every solution has passed the judge, or the run would have failed.
type Record struct {
	Plan      string             `json:"plan"`
	Instance  string             `json:"instance"`
	Hash      string             `json:"instance_hash"`
	Kind      model.Kind         `json:"kind"`
	Params    map[string]float64 `json:"params,omitempty"`
	Algorithm string             `json:"algorithm"` // the label
	Options   string             `json:"options,omitempty"`
	Seed      uint64             `json:"seed"`
	Status    model.Status       `json:"status"`
	Objective *float64           `json:"objective,omitempty"`
	Second    *float64           `json:"second_objective,omitempty"`
	Bound     *float64           `json:"bound,omitempty"`
	Gap       *float64           `json:"gap,omitempty"`
	// Planned is what the first plan promised and Rounds the round of the
	// best one, for algorithms that plan and replay (model.Round).
	Planned  *float64 `json:"planned,omitempty"`
	Rounds   int      `json:"rounds,omitempty"`
	ElapsedS float64  `json:"elapsed_s"`
	Nodes    int64    `json:"nodes"`
	Verified bool     `json:"verified"`
	Reason   string   `json:"reason,omitempty"`
	Version  string   `json:"version"`
}

// key tells runs apart.
func (r *Record) key() string { return fmt.Sprintf("%s\x00%s\x00%d", r.Instance, r.Algorithm, r.Seed) }

func optional(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func newRecord(plan string, c *Case, a *Algorithm, r model.Result) Record {
	var planned *float64
	rounds := 0
	for k, x := range r.Trace {
		if k == 0 {
			planned = optional(x.Planned)
		}
		if x.Kept {
			rounds = x.Round
		}
	}
	return Record{Plan: plan, Planned: planned, Rounds: rounds, Instance: c.Name, Hash: r.InstanceHash, Kind: r.Kind, Params: c.Params, Algorithm: a.Label, Options: a.settings(),
		Seed: r.Seed, Status: r.Status, Objective: optional(r.Objective), Second: optional(r.SecondObjective),
		Bound: optional(r.Bound), Gap: optional(r.Gap), ElapsedS: r.Elapsed.Seconds(), Nodes: r.Nodes,
		Verified: r.Solution != nil && !r.Unverified, Reason: r.Reason, Version: r.Version}
}

// ReadRecords reads a results file. A last line without its end was being
// written when the run was killed: it is dropped, and whole tells how many
// bytes come before it.
func ReadRecords(file string) (records []Record, whole int64, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, err
	}
	return DecodeRecords(bytes.NewReader(data), file)
}

// DecodeRecords is ReadRecords on a reader.
func DecodeRecords(in io.Reader, name string) (records []Record, whole int64, err error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, 0, err
	}
	for line := 1; len(data) > 0; line++ {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		var r Record
		dec := json.NewDecoder(bytes.NewReader(data[:end]))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil {
			return nil, 0, fmt.Errorf("%w results: %s line %d: %w", model.ErrInvalid, name, line, err)
		}
		if r.Instance == "" || r.Algorithm == "" || !r.Status.Valid() {
			return nil, 0, fmt.Errorf("%w results: %s line %d: instance, algorithm or status is missing", model.ErrInvalid, name, line)
		}
		records = append(records, r)
		whole += int64(end) + 1
		data = data[end+1:]
	}
	return records, whole, nil
}
