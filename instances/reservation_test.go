// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func reservation(t require.T, s ReservationSpec) *model.Reservation {
	t.Helper()
	return require.Value(s.Generate())(t)
}

// load is the offered load: PE-seconds over those that there are from the first
// to the last arrival.
func load(in *model.Reservation) float64 {
	work := 0.0
	for _, r := range in.Requests {
		work += float64(r.PEs) * r.DurationS
	}
	n := len(in.Requests)
	return work / (float64(in.PEs) * (in.Requests[n-1].ArrivalS - in.Requests[0].ArrivalS))
}

// Every instance is valid, and as the paper describes.
func TestReservationProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pes := 1 << rapid.IntRange(5, 12).Draw(t, "log PEs")
		s := ReservationSpec{
			Requests: rapid.IntRange(1, 200).Draw(t, "requests"), PEs: pes, Seed: rapid.Uint64().Draw(t, "seed"), Index: rapid.IntRange(0, 1e9).Draw(t, "index"),
			UMed:          rapid.Float64Range(4.5, math.Log2(float64(pes))).Draw(t, "umed"),
			ArrivalFactor: rapid.Float64Range(0.001, 10).Draw(t, "arrival"),
			ARTime:        rapid.Float64Range(0, 10).Draw(t, "artime"), Deadline: rapid.Float64Range(0, 10).Draw(t, "deadline"),
			Parameters: rapid.SampledFrom([]string{"", parametersFit, parametersColumnT}).Draw(t, "parameters"),
		}
		in := reservation(t, s) // validates
		if len(in.Requests) != s.Requests || in.PEs != pes || in.Name != s.name() {
			t.Fatalf("%s: %d requests on %d PEs", in.Name, len(in.Requests), in.PEs)
		}
		for k, r := range in.Requests {
			for _, x := range []float64{r.ArrivalS, r.ReadyS, r.DeadlineS} {
				if x != math.Floor(x) {
					t.Fatalf("request %d: the time %v isn't whole", k, x)
				}
			}
			if r.PEs&(r.PEs-1) != 0 || r.PEs < 32 || r.PEs > pes {
				t.Fatalf("request %d: %d PEs", k, r.PEs)
			}
			if !slices.Contains(reservationDurations, r.DurationS) || r.RuntimeS != nil || r.CancelS != nil {
				t.Fatalf("request %d: %+v", k, r)
			}
			if d := r.ReadyS - r.ArrivalS; d < 0 || d > s.ARTime*r.DurationS+0.5 {
				t.Fatalf("request %d: ready after %v", k, d)
			}
			if d := r.DeadlineS - r.ReadyS - r.DurationS; d < 0 || d > s.Deadline*r.DurationS+0.5 {
				t.Fatalf("request %d: a slack of %v", k, d)
			}
		}
	})
}

// sizeShare is the probability of the size 2^k by the two-stage uniform
// distribution.
func sizeShare(k int, medium float64) float64 {
	part := func(low, high float64) float64 {
		return max(0, min(float64(k)+0.5, high)-max(float64(k)-0.5, low)) / (high - low)
	}
	return 0.82*part(4.5, medium) + 0.18*part(medium, 10)
}

func TestReservationSizes(t *testing.T) {
	for _, medium := range []float64{5, 6, 7, 8, 9} {
		s := NewReservationSpec()
		s.Requests, s.UMed, s.Seed = 50_000, medium, 1
		count := map[int]float64{}
		for _, r := range reservation(t, s).Requests {
			count[r.PEs]++
		}
		total := 0.0
		for k := 5; k <= 10; k++ {
			want := sizeShare(k, medium)
			total += want
			// Five standard deviations of a share of 50,000.
			if got := count[1<<k] / 50_000; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/50_000)+1e-12 {
				t.Errorf("UMed %v: a share of %.4f has %d PEs, want %.4f", medium, got, 1<<k, want)
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("UMed %v: the shares sum to %v", medium, total)
		}
	}
}

// The offered load is one that a cluster of 1,024 may see, around 1 at UMed 7
// (the log has 0.74), and it grows with UMed.
func TestReservationLoad(t *testing.T) {
	for parameters, want := range map[string][]float64{
		parametersFit:     {0.56, 0.70, 0.95, 1.40, 2.30},
		parametersColumnT: {0.68, 0.88, 1.26, 1.87, 2.84},
	} {
		last := 0.0
		for i, medium := range []float64{5, 6, 7, 8, 9} {
			s := NewReservationSpec()
			s.Requests, s.UMed, s.Parameters, s.Seed = 20_000, medium, parameters, 1
			got := load(reservation(t, s))
			t.Logf("%s, UMed %v: offered load %.2f", parameters, medium, got)
			if got <= last || math.Abs(got/want[i]-1) > 0.1 {
				t.Errorf("%s, UMed %v: load %.3f after %.3f, want %v within 10 %%", parameters, medium, got, last, want[i])
			}
			last = got
		}
	}
}

func TestReservationDeterminism(t *testing.T) {
	s := NewReservationSpec()
	s.Requests, s.Seed, s.Index = 300, 5, 2
	base := reservation(t, s)
	require.Same(t, "result", base, reservation(t, s))
	for name, parameters := range map[string]string{"seed": "seed=6", "index": "index=3"} {
		other := s
		set(t, &other, parameters)
		in := reservation(t, other)
		same := 0
		for k := range in.Requests {
			if in.Requests[k].PEs == base.Requests[k].PEs && in.Requests[k].DurationS == base.Requests[k].DurationS {
				same++
			}
		}
		if same > 120 || in.Requests[0].ArrivalS == base.Requests[0].ArrivalS {
			t.Errorf("another %s gives the same first arrival, or %d jobs of 300", name, same)
		}
	}
}

// The basis of results stays as it is: the first requests of seed 1.
func TestReservationGolden(t *testing.T) {
	s := NewReservationSpec()
	s.Requests, s.Seed = 3, 1
	want := []model.Request{
		{ID: "1", ArrivalS: 405, ReadyS: 11153, DurationS: 3600, DeadlineS: 21692, PEs: 32},
		{ID: "2", ArrivalS: 524, ReadyS: 5895, DurationS: 1800, DeadlineS: 7893, PEs: 32},
		{ID: "3", ArrivalS: 788, ReadyS: 5164, DurationS: 3600, DeadlineS: 17962, PEs: 256},
	}
	require.Same(t, "requests", want, reservation(t, s).Requests)
}

// Instances of one seed and index differ only in the values that a factor determines.
func TestReservationPairing(t *testing.T) {
	s := ReservationSpec{Requests: 400, ARTime: 2, Deadline: 2, Seed: 9}
	base := reservation(t, s).Requests
	with := func(parameters string) []model.Request {
		other := s
		set(t, &other, parameters)
		return reservation(t, other).Requests
	}
	require.Same(t, "fewer requests are no prefix", base[:100], with("requests=100"))
	for k, r := range with("arrival_factor=2") {
		b := base[k]
		if r.PEs != b.PEs || r.DurationS != b.DurationS || r.ReadyS-r.ArrivalS != b.ReadyS-b.ArrivalS || r.DeadlineS-r.ReadyS != b.DeadlineS-b.ReadyS ||
			r.ArrivalS != math.Floor(b.ArrivalS/2) {
			t.Fatalf("arrival factor: %+v, with 1 %+v", r, b)
		}
	}
	for k, r := range with("artime=4 deadline=4") {
		b := base[k]
		twice := func(x, y float64) bool { return math.Abs(x-2*y) <= 1.5 } // both are rounded
		if r.PEs != b.PEs || r.DurationS != b.DurationS || r.ArrivalS != b.ArrivalS || !twice(r.ReadyS-r.ArrivalS, b.ReadyS-b.ArrivalS) ||
			!twice(r.Latest()-r.ReadyS, b.Latest()-b.ReadyS) {
			t.Fatalf("flexibility: %+v, with {2, 2} %+v", r, b)
		}
	}
	for k, r := range with("artime=0 deadline=0") {
		if r.ReadyS != r.ArrivalS || r.DeadlineS != r.ReadyS+r.DurationS || r.ArrivalS != base[k].ArrivalS {
			t.Fatalf("no flexibility: %+v", r)
		}
	}
	larger, otherDuration := 0, 0
	for k, r := range with("umed=8") {
		b := base[k]
		if r.ArrivalS != b.ArrivalS || r.PEs < b.PEs {
			t.Fatalf("UMed: %+v, with 7 %+v", r, b)
		}
		if r.PEs > b.PEs {
			larger++
		}
		if r.DurationS != b.DurationS {
			otherDuration++
		}
	}
	if larger < 100 || otherDuration == 0 || otherDuration > 40 {
		t.Errorf("a larger UMed makes %d of 400 jobs larger, %d run longer or shorter", larger, otherDuration)
	}
}

func TestNearestDuration(t *testing.T) {
	for runtime, want := range map[float64]float64{1: 60, 60: 60, 134: 60, 135: 300, 519: 300, 520: 900, 1272: 900, 1273: 1800, 2545: 1800, 2546: 3600, 6235: 3600, 6236: 10800, 162754: 10800} {
		require.Same(t, fmt.Sprintf("%v s is mapped to", runtime), want, nearestDuration(runtime))
	}
}

func TestReservationNames(t *testing.T) {
	for want, s := range map[string]ReservationSpec{
		"res-n10000-um7-af1-ar3-dl3-0":                    NewReservationSpec(),
		"res-n10000-um7-af1-ar0-dl0-0":                    {},
		"res-n100-um5.5-af0.75-ar1-dl2-column-t-pe512-4":  {Requests: 100, UMed: 5.5, ArrivalFactor: 0.75, ARTime: 1, Deadline: 2, Parameters: "column-t", PEs: 512, Index: 4},
		"LANL-CM5-1994-4.1-cln-n1000-af1-ar3-dl3-1":       {Requests: 1000, ARTime: 3, Deadline: 3, SWF: "x/LANL-CM5-1994-4.1-cln.swf.gz", Index: 1},
		"KTH-SP2-1996-2.1-cln-n10000-af1-ar0-dl0-pe200-0": {SWF: "KTH-SP2-1996-2.1-cln", PEs: 200},
		"res-n10000-um7-af1-ar0-dl0-column-t-0":           {Parameters: parametersColumnT},
	} {
		require.Same(t, "name", want, s.name())
	}
}

func TestReservationErrors(t *testing.T) {
	for name, c := range map[string]struct {
		parameters string
		want       string
	}{
		"requests":   {"requests=-1", "requests is -1, must be from 1 to 1,000,000"},
		"too many":   {"requests=10000000", "requests is 10000000, must be"},
		"small umed": {"umed=4", "umed is 4, must be from 4.5 to 10, the logarithm of pes"},
		"large umed": {"umed=9 pes=256", "umed is 9, must be from 4.5 to 8"},
		"NaN umed":   {"umed=NaN", "umed is NaN"},
		"arrival":    {"arrival_factor=-1", "the arrival factor is -1, must be from 0.001 to 1000"},
		"Inf":        {"arrival_factor=Inf", "the arrival factor is +Inf"},
		"artime":     {"artime=-0.5", "the artime factor is -0.5, must be from 0 to 1000"},
		"deadline":   {"deadline=NaN", "the deadline factor is NaN"},
		"PEs":        {"pes=1000", "pes is 1000, must be a power of two from 32 to 1048576"},
		"few PEs":    {"pes=16", "pes is 16, must be"},
		"negative":   {"pes=-9223372036854775808", "pes is -9223372036854775808, must be"},
		"parameters": {"parameters=LANL", `parameters is "LANL", must be "fit" or "column-t"`},
		"index":      {"index=-1", "index is -1, must be from 0"},
		"log PEs":    {"log=x pes=-3", "pes is -3, must be from 1"},
		"input":      {"log=-", "swf is standard input, give a file"},
	} {
		s := NewReservationSpec()
		set(t, &s, c.parameters)
		if _, err := s.Generate(); !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), "invalid reservation specification: "+c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

// The jobs of a real log, a part of it for each index.
func TestReservationOfLog(t *testing.T) {
	file := require.Data(t, "swf", "LANL-CM5-1994-4.1-cln.swf.gz")
	folder := filepath.Dir(filepath.Dir(file))
	t.Setenv("GAPWISE_DATA", folder)
	s := ReservationSpec{Requests: 10_000, ARTime: 3, Deadline: 3, SWF: "LANL-CM5-1994-4.1-cln"}
	first := reservation(t, s)
	var ids []string
	for s.Index = range 3 {
		in := reservation(t, s)
		if in.PEs != 1024 || in.Requests[0].ArrivalS != 0 {
			t.Errorf("%s: %d PEs, the first arrival is at %v", in.Name, in.PEs, in.Requests[0].ArrivalS)
		}
		if l := load(in); l < 0.3 || l > 1.5 {
			t.Errorf("%s: load %.3f", in.Name, l)
		}
		ids = append(ids, in.Requests[0].ID, in.Requests[9999].ID)
	}
	if d := cmp.Diff(6, len(slices.Compact(slices.Clone(ids)))); d != "" || ids[0] != "1" {
		t.Errorf("parts begin and end at %v", ids)
	}
	s.Index, s.ARTime, s.Seed = 0, 1, 8
	for k, r := range reservation(t, s).Requests {
		if b := first.Requests[k]; r.ID != b.ID || r.ArrivalS != b.ArrivalS || r.DurationS != b.DurationS || r.PEs != b.PEs {
			t.Fatalf("%+v, was %+v", r, b)
		}
	}
	s.Index = 12
	if _, err := s.Generate(); !errors.Is(err, model.ErrInvalid) || !strings.HasSuffix(err.Error(), "the log has 122055 usable jobs, 10000 after the first 120000 are asked for") {
		t.Error(err)
	}
	s.SWF = "none.swf"
	require.Refused(t, "can't read none.swf: no such file", require.Err(s.Generate()), model.ErrInvalid,
		"can't read none.swf: no such file")
}

func BenchmarkReservationSpec(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		s := NewReservationSpec()
		s.Requests = n
		b.Run(fmt.Sprintf("requests=%d", n), func(b *testing.B) {
			for b.Loop() {
				reservation(b, s)
			}
		})
	}
}
