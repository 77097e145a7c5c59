// SPDX-License-Identifier: MIT

package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
)

// oracleJSON is the encoding of an instance or a solution by encoding/json.
func oracleJSON(x any) ([]byte, error) {
	type (
		vcsched     VCSched // without the methods
		placement   Placement
		dag         DAG
		schedule    Schedule
		reservation Reservation
		bookings    Bookings
		tvc         TVC
		embeddings  Embeddings
		batch       Batch
		execution   Execution
	)
	type head struct {
		Kind    Kind `json:"kind"`
		Version int  `json:"version"`
	}
	switch x := x.(type) {
	case *VCSched:
		return json.Marshal(struct {
			head
			*vcsched
		}{head{KindVCSched, 1}, (*vcsched)(x)})
	case *Placement:
		return json.Marshal(struct {
			head
			*placement
		}{head{KindVCSched, 1}, (*placement)(x)})
	case *DAG:
		return json.Marshal(struct {
			head
			*dag
		}{head{KindDAG, 1}, (*dag)(x)})
	case *Schedule:
		return json.Marshal(struct {
			head
			*schedule
		}{head{KindDAG, 1}, (*schedule)(x)})
	case *Reservation:
		y := reservation(*x)
		if y.Requests == nil {
			y.Requests = []Request{} // null isn't a list
		}
		return json.Marshal(struct {
			head
			*reservation
		}{head{KindReservation, 1}, &y})
	case *Bookings:
		y := bookings(*x)
		if y.Bookings == nil {
			y.Bookings = []Booking{}
		}
		return json.Marshal(struct {
			head
			*bookings
		}{head{KindReservation, 1}, &y})
	case *TVC:
		y := tvc(*x)
		if y.Requests == nil {
			y.Requests = []TVCRequest{}
		}
		return json.Marshal(struct {
			head
			*tvc
		}{head{KindTVC, 1}, &y})
	case *Embeddings:
		y := embeddings{Runs: append([]Run[Embedding]{}, x.Runs...)}
		for i := range y.Runs {
			segments := append([]Segment[Embedding]{}, y.Runs[i].Segments...)
			for k := range segments {
				segments[k].Place.Servers = append([]ServerVMs{}, segments[k].Place.Servers...)
			}
			y.Runs[i].Segments = segments
		}
		return json.Marshal(struct {
			head
			*embeddings
		}{head{KindTVC, 1}, &y})
	case *Batch:
		y := batch(*x)
		if y.Jobs == nil {
			y.Jobs = []BatchJob{}
		}
		return json.Marshal(struct {
			head
			*batch
		}{head{KindBatch, 1}, &y})
	case *Execution:
		y := execution{Runs: append([]Run[BatchPlace]{}, x.Runs...)}
		for i := range y.Runs {
			y.Runs[i].Segments = append([]Segment[BatchPlace]{}, y.Runs[i].Segments...)
		}
		return json.Marshal(struct {
			head
			*execution
		}{head{KindBatch, 1}, &y})
	}
	return nil, fmt.Errorf("no oracle for %T", x)
}

var (
	oddTexts  = []string{"", "a", "job-17 (x)", "<&>", `"`, `\`, "\x00\x1f\x7f", "\n\t\r\b\f", "grün 漢字 \U0001f600", "\u2028\u2029", "\xff", "a\xc3\x28", "\ufffd", "'/~"}
	oddFloats = []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.999999e-7, 1e-7, 123e-9, 1e20, 1e21, 999999999999999900000, 1 << 53, 1<<53 + 2, -1 << 53, 1<<63 - 1024, 5e-324,
		math.MaxFloat64, 4.35, 100.5, 1e15 + 0.5, math.Nextafter(1e-6, 0), math.Nextafter(1e21, 0)}
)

// fill sets a value at random to one that code may make.
func fill(rng *rand.Rand, v reflect.Value, size int) {
	if s, ok := v.Addr().Interface().(*Switch); ok {
		*s = Switch{Layer(rng.IntN(3)), rng.IntN(5), rng.IntN(100)}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(oddTexts[rng.IntN(len(oddTexts))])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int32:
		v.SetInt(int64(rng.Uint64() >> rng.IntN(64)))
	case reflect.Float64:
		x := math.Float64frombits(rng.Uint64())
		switch rng.IntN(4) {
		case 0:
			x = oddFloats[rng.IntN(len(oddFloats))]
		case 1:
			x = float64(rng.Int64N(1e15)>>rng.IntN(50)) / []float64{1, 10, 100, -1e4, 1e6}[rng.IntN(5)]
		case 2:
			x = math.Ldexp(rng.Float64(), rng.IntN(200)-100)
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			x = 0
		}
		v.SetFloat(x)
	case reflect.Int64:
		v.SetInt(rng.Int64N(1<<41) - 1<<40)
	case reflect.Pointer:
		if rng.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem(), size)
		}
	case reflect.Slice:
		if n := rng.IntN(size + 2); n > 0 { // nil, empty, short, or long
			v.Set(reflect.MakeSlice(v.Type(), n-1, n))
		}
		for k := range v.Len() {
			fill(rng, v.Index(k), 3)
		}
	case reflect.Map:
		if rng.IntN(3) == 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range rng.IntN(4) {
				size := reflect.New(v.Type().Elem()).Elem()
				fill(rng, size, 3)
				v.SetMapIndex(reflect.ValueOf(oddTexts[rng.IntN(len(oddTexts))]), size)
			}
		}
	case reflect.Struct:
		for k := range v.NumField() {
			fill(rng, v.Field(k), size)
		}
	default:
		panic(v.Kind())
	}
}

// Files and hashes are, byte for byte, the output of encoding/json.
func TestEncodeAgreesWithOracle(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for draw := range require.Rounds(3000) {
		size := 3
		if draw%500 < 8 {
			size = 2000 // more than the hash takes at once
		}
		x := []any{new(VCSched), new(Placement), new(DAG), new(Schedule), new(Reservation), new(Bookings), new(TVC), new(Embeddings), new(Batch), new(Execution)}[draw%10]
		fill(rng, reflect.ValueOf(x).Elem(), size)
		want := require.Value(oracleJSON(x))(t)
		got, err := json.Marshal(x)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("error %v\n%.2000s\nwant\n%.2000s", err, got, want)
		}
		if in, ok := x.(Instance); ok {
			SetAccount(in, nil)
			want := require.Value(oracleJSON(x))(t)
			hash, err := Hash(in)
			if want := fmt.Sprintf("sha256:%x", sha256.Sum256(want)); err != nil || hash != want {
				t.Fatalf("hash %s, error %v, want %s", hash, err, want)
			}
		}
	}
}

func TestEncodeFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range require.Rounds(200_000) {
		x := math.Float64frombits(rng.Uint64())
		if k < len(oddFloats) {
			x = oddFloats[k]
		}
		want, wantErr := json.Marshal(x)
		var e encoder
		err := encodeFloat(&e, reflect.ValueOf(x))
		if (err == nil) != (wantErr == nil) || string(e.text) != string(want) {
			t.Fatalf("%s, error %v, want %s, error %v", e.text, err, want, wantErr)
		}
	}
}

// foreign is an instance of a kind, but not this package's.
type foreign struct{ *Reservation }

func (foreign) MarshalJSON() ([]byte, error) { return []byte(`{"x": "<"}`), nil }

func TestHashErrorsAndOthers(t *testing.T) {
	if _, err := Hash(&Reservation{Requests: []Request{{ReadyS: math.NaN()}}}); err == nil {
		t.Error("NaN has a hash")
	}
	for name, in := range map[string]Instance{"none": nil, "nil": (*Reservation)(nil), "foreign": foreign{new(Reservation)}} {
		data := require.Value(json.Marshal(in))(t)
		hash, err := Hash(in)
		if want := fmt.Sprintf("sha256:%x", sha256.Sum256(data)); err != nil || hash != want {
			t.Errorf("%s: hash %s, error %v, want %s", name, hash, err, want)
		}
	}
}

// A duration is the same after it was written as seconds and read again: the
// product isn't cut off.
func TestElapsed(t *testing.T) {
	for _, d := range []time.Duration{30541, 1, 999_999_999, 3*time.Hour + 17} {
		r := NewResult("a", 1)
		r.Kind, r.Elapsed = KindDAG, d
		data := require.Value(json.Marshal(r))(t)
		if back, err := DecodeResult(data); err != nil || back.Elapsed != d {
			t.Errorf("%d ns are read as %d (%v)", d, back.Elapsed, err)
		}
	}
}
