// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func tvcOf(t *testing.T, parameters string, args ...any) *model.TVC {
	t.Helper()
	s := NewTVCSpec()
	s.Seed = 1
	set(t, &s, fmt.Sprintf(parameters, args...))
	return require.Value(s.Generate())(t)
}

// offered returns the offered load of an instance.
func offered(in *model.TVC) float64 {
	work := 0.0
	for _, q := range in.Requests {
		work += float64(q.VMs) * q.DurationS
	}
	return work / float64(in.FatTree.Servers()*in.FatTree.Slots) / (in.Requests[len(in.Requests)-1].ArrivalS - in.Requests[0].ArrivalS)
}

// moments returns the mean and the standard deviation of a figure of jobs or requests.
func moments[E any](all []E, figure func(E) float64) (mean, deviation float64) {
	return stat.PopMeanStdDev(figures(all, figure), nil)
}

func bandwidth(q model.TVCRequest) float64 { return q.BandwidthMbps }

func TestTVCDistributions(t *testing.T) {
	const n = 50_000
	for _, sizes := range TVCSizes {
		for _, b := range []float64{50, 250, 700} {
			in := tvcOf(t, "requests=%v sizes=%v bandwidth=%v load=0.8", n, sizes, b)
			if got := offered(in); math.Abs(got-0.8) > 1e-6 {
				t.Errorf("%s: offered load %v, want 0.8", in.Name, got)
			}
			// Five standard errors of the mean; clipping at 4.1 standard deviations
			// changes nothing that can be seen.
			if mean, sd := moments(in.Requests, bandwidth); math.Abs(mean/b-1) > 5*0.2/math.Sqrt(n) || math.Abs(sd/b-0.2) > 0.004 {
				t.Errorf("%s: bandwidth %v ± %v, want %v ± %v", in.Name, mean, sd, b, 0.2*b)
			}
			for _, q := range in.Requests {
				if q.BandwidthMbps < 2.0/11*b-0.001 || q.BandwidthMbps > 20.0/11*b+0.001 {
					t.Fatalf("%s: %+v isn't clipped", in.Name, q)
				}
			}
			if mean, sd := moments(in.Requests, func(q model.TVCRequest) float64 { return float64(q.VMs) }); math.Abs(mean-8) > 5*sd/math.Sqrt(n) {
				t.Errorf("%s: %v VMs on average, want 8", in.Name, mean)
			}
			if mean, sd := moments(in.Requests, func(q model.TVCRequest) float64 { return q.DurationS }); math.Abs(mean/3600-1) > 5/math.Sqrt(n) || math.Abs(sd/mean-1) > 0.05 {
				t.Errorf("%s: durations %v ± %v, want an exponential distribution of mean 3600", in.Name, mean, sd)
			}
		}
	}
}

// Uniform sizes are equally frequent; the logarithms of log-uniform ones are.
func TestTVCSizes(t *testing.T) {
	const n = 50_000
	share := func(sizes string) (all [64]float64) {
		for _, q := range tvcOf(t, "requests=%v sizes=%v", n, sizes).Requests {
			all[q.VMs] += 1.0 / n
		}
		return all
	}
	near := func(what string, k int, got, want float64) {
		if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/n) {
			t.Errorf("%s: a share of %.4f has %d VMs, want %.4f", what, got, k, want)
		}
	}
	uniform := share(sizesUniform)
	for k := 1; k <= 15; k++ {
		near(sizesUniform, k, uniform[k], 1.0/15)
	}
	end := logEnd(8)
	log := share(sizesLog)
	for k := 1; float64(k)-0.5 < end; k++ {
		near(sizesLog, k, log[k], math.Log(min(float64(k)+0.5, end)/max(float64(k)-0.5, 1))/math.Log(end))
	}
	for _, mean := range []float64{1, 1.01, 1.3, 8, 500} {
		end, sum := logEnd(mean), 0.0
		for k := 1.0; k-0.5 < end && end > 1; k++ {
			sum += k * math.Log(min(k+0.5, end)/max(k-0.5, 1)) / math.Log(end)
		}
		if mean > 1 && math.Abs(sum-mean) > 1e-9 {
			t.Errorf("log-uniform to %v: mean %v, want %v", end, sum, mean)
		}
	}
}

// The first requests of seed 1 stay as they are: results are based on them.
func TestTVCGolden(t *testing.T) {
	want := []model.TVCRequest{{ID: "1", VMs: 8, BandwidthMbps: 194.286, DurationS: 1393}, {ID: "2", ArrivalS: 250.689, VMs: 6, BandwidthMbps: 204.521, DurationS: 4246},
		{ID: "3", ArrivalS: 428.394, VMs: 13, BandwidthMbps: 212.841, DurationS: 4301}}
	in := tvcOf(t, "requests=3")
	require.Same(t, "requests", want, in.Requests)
}

// Instances of one seed and index differ only in the values that a parameter determines; those of another differ in
// everything.
func TestTVCPairing(t *testing.T) {
	base := tvcOf(t, "").Requests
	for name, parameters := range map[string]string{
		"load": "load=1.5", "bandwidth": "bandwidth=500", "fewer": "requests=100",
		"fabric": "fabric=non-blocking hose=per-path link_mbps=10000",
		"mode":   "queue=yes migration_s=20", "k": "k=8 slots=4",
		"reading": "bandwidth_reading=per-request", "nothing": "",
	} {
		in := tvcOf(t, "%s", parameters)
		ratio := in.Requests[50].ArrivalS / base[50].ArrivalS
		for k, q := range in.Requests {
			b := base[k]
			factor := map[string]float64{"bandwidth": 2, "reading": 2.2}[name]
			if factor == 0 {
				factor = 1
			}
			if q.ID != b.ID || q.VMs != b.VMs || q.DurationS != b.DurationS || math.Abs(q.ArrivalS-ratio*b.ArrivalS) > 1 || math.Abs(q.BandwidthMbps-factor*b.BandwidthMbps) > 0.005 {
				t.Fatalf("%s: %+v, was %+v; the arrivals' ratio is %v", name, q, b, ratio)
			}
		}
		if name == "nothing" && cmp.Diff(base, in.Requests) != "" {
			t.Error("the same specification gives another instance")
		}
	}
	for name, parameters := range map[string]string{"seed": "seed=2", "index": "index=1"} {
		same := 0
		for k, q := range tvcOf(t, "%s", parameters).Requests {
			if q.VMs == base[k].VMs && q.DurationS == base[k].DurationS || q.BandwidthMbps == base[k].BandwidthMbps {
				same++
			}
		}
		if same > 5 {
			t.Errorf("another %s gives %d of 1000 requests the same", name, same)
		}
	}
}

func TestTVCNames(t *testing.T) {
	for want, parameters := range map[string]string{
		"tvc-k6-l8-n1000-uniform8-b250-load0.5-0":                         "",
		"tvc-k4-l2-n20-log4.5-b600-load2-link100-revenue-3":               "k=4 slots=2 requests=20 sizes=log size=4.5 bandwidth=600 load=2 link_mbps=100 goal=revenue index=3",
		"KTH-k6-l8-n0-printed-load0-non-blocking-cut-queue-migration20-0": "log=a/KTH.swf.gz requests=0 bandwidth_reading=printed load=0 fabric=non-blocking hose=cut queue=yes migration_s=20",
	} {
		s := NewTVCSpec()
		if set(t, &s, parameters); s.name() != want {
			t.Errorf("%s, want %s", s.name(), want)
		}
	}
}

func TestTVCErrors(t *testing.T) {
	for want, parameters := range map[string]string{
		"requests is 0 and load 0.5, must be above 0 without a log":                                  "requests=0",
		"requests is -1, must be from 0 to 1,000,000":                                                "requests=-1",
		"bandwidth is NaN, must be from 0.01 to 1,000,000":                                           "bandwidth=NaN",
		"load is -1, must be from 0 to 1000":                                                         "load=-1",
		"requests is 1000 and load 0, must be above 0 without a log":                                 "load=0",
		"load is 1e-09, must be at least 0.001":                                                      "load=1e-9",
		"index is -1, must be from 0 to 10^9":                                                        "index=-1",
		"fat_tree.k is 5, must be an even number":                                                    "k=5",
		"slots is 0, must be from 1 to":                                                              "slots=0",
		"link_mbps is -3, must be above 0":                                                           "link_mbps=-3",
		`fabric is "mesh", must be one of`:                                                           "fabric=mesh",
		`hose is "x", must be one of`:                                                                "hose=x",
		`goal is "all", must be one of`:                                                              "goal=all",
		`goal is "revenue", but in queue mode`:                                                       "goal=revenue queue=yes",
		`queue is "true", must be one of ["no" "yes"]`:                                               "queue=true",
		`bandwidth_reading is "", must be one of`:                                                    "bandwidth_reading=",
		`sizes is "normal", must be one of`:                                                          "sizes=normal",
		"size is 0.5, must be from 1 to 1000000":                                                     "size=0.5",
		"the mean size of uniform sizes is 2.2, must be a multiple":                                  "size=2.2",
		"mean size 8 makes requests of up to 15 VMs, the data centre has 4 slots; make size smaller": "k=2 slots=2",
		"migration_s is NaN, must be from 0":                                                         "migration_s=NaN",
		"log is standard input, give a file":                                                         "log=-",
		"can't read none.swf: no such file":                                                          "log=none.swf",
	} {
		s := NewTVCSpec()
		set(t, &s, parameters)
		require.Refused(t, want, require.Err(s.Generate()), model.ErrInvalid, want)
	}
	s := NewTVCSpec()
	if err := s.checkKeys(map[string]bool{"log": true, "size": true}); err == nil {
		t.Error("sizes of a log's jobs are taken")
	}
}

func TestTVCFromSWF(t *testing.T) {
	s := NewTVCSpec()
	s.K, s.Slots, s.Load = 2, 8, 0 // 16 slots
	in, _ := require.Pair(s.fromSWF("n", readLog(t, smallLog), SWFJobs{Seed: 1}))(t)
	require.Same(t, "account", "left out: 2 jobs without a runtime (1, 9); 1 job larger than the machine (6); 1 job without processors (7); "+
		"1 job without a submit time (8)", model.AccountOf(in).Lines()[1])
	all := in.(*model.TVC).Requests
	for k, q := range all {
		all[k].BandwidthMbps = 0
		if q.BandwidthMbps < 250*2.0/11-0.001 || q.BandwidthMbps > 250*20.0/11+0.001 {
			t.Errorf("%+v", q)
		}
	}
	want := []model.TVCRequest{{ID: "2", DurationS: 60, VMs: 4}, {ID: "3", ArrivalS: 10, DurationS: 50, VMs: 2}, {ID: "5", ArrivalS: 25, DurationS: 80, VMs: 1},
		{ID: "4", ArrivalS: 30, DurationS: 70, VMs: 16}, {ID: "record-10", ArrivalS: 61, DurationS: 30, VMs: 8}}
	require.Same(t, "all", want, all)
	for want, o := range map[string]SWFJobs{
		"invalid: the log has 5 usable jobs, 6 after the first 0 are asked for":                                                        {First: 6},
		"invalid: estimates and cancelled jobs go with --kind reservation and mean nothing to tvc, whose requests take their runtimes": {Estimate: true},
	} {
		if _, _, err := s.fromSWF("n", readLog(t, smallLog), o); !errors.Is(err, model.ErrInvalid) || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// The logs of the paper: the same jobs at any load and index, the load as asked
// for, and the mean bandwidths of the readings.
func TestTVCFromArchive(t *testing.T) {
	for name, c := range map[string]struct {
		all                 int
		longest             float64 // seconds from the first arrival to the last of 1,000
		perRequest, largest float64
	}{
		"KTH-SP2-1996-2.1-cln":   {28_467, 9.234 * 86_400, 545.1, 297},
		"NASA-iPSC-1993-3.1-cln": {18_066, 6.74 * 86_400, 534.4, 232},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GAPWISE_DATA", filepath.Dir(filepath.Dir(require.Data(t, "swf", name+".swf.gz"))))
			own := tvcOf(t, "log=%v load=0", name)
			if last := own.Requests[999].ArrivalS; len(own.Requests) != 1000 || math.Abs(last/c.longest-1) > 0.05 {
				t.Errorf("%d requests in %v s", len(own.Requests), last)
			}
			for _, load := range []float64{0.2, 1} {
				in := tvcOf(t, "log=%v load=%v index=3", name, load)
				if got := offered(in); math.Abs(got-load) > 1e-6 {
					t.Errorf("offered load %v, want %v", got, load)
				}
				ratio, same := in.Requests[999].ArrivalS/own.Requests[999].ArrivalS, 0
				for k, q := range in.Requests {
					b := own.Requests[k]
					if q.ID != b.ID || q.VMs != b.VMs || q.DurationS != b.DurationS || math.Abs(q.ArrivalS-ratio*b.ArrivalS) > 0.002 {
						t.Fatalf("%+v, was %+v", q, b)
					}
					if q.BandwidthMbps == b.BandwidthMbps {
						same++
					}
				}
				if same > 5 {
					t.Errorf("%d bandwidths are those of index 0", same)
				}
			}
			for reading, want := range map[string]float64{readingMean: 250, readingPerRequest: c.perRequest, readingLargest: c.largest} {
				mean, sd := moments(tvcOf(t, "log=%v bandwidth_reading=%v", name, reading).Requests, bandwidth)
				if math.Abs(mean-want) > 5*sd/math.Sqrt(1000) {
					t.Errorf("%s: %v Mbps on average, want %v", reading, mean, want)
				}
			}
			printed := tvcOf(t, "log=%v bandwidth_reading=printed", name)
			for _, q := range printed.Requests {
				if want := math.Round(1e6*min(1, 54/float64(q.VMs))) / 1000; q.BandwidthMbps != want {
					t.Fatalf("%+v, want %v Mbps", q, want)
				}
			}
			whole := tvcOf(t, "log=%v requests=0", name)
			if len(whole.Requests) != c.all || !slices.IsSortedFunc(whole.Requests, func(a, b model.TVCRequest) int { return int(math.Copysign(1, a.ArrivalS-b.ArrivalS)) }) {
				t.Errorf("%d requests, want %d in order", len(whole.Requests), c.all)
			}
		})
	}
}
