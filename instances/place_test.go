// SPDX-License-Identifier: MIT

package instances

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestPlatformUnits(t *testing.T) {
	for text, want := range map[string]float64{
		"1e8": 1e8, "1Gbps": 1.25e8, "1Gbit/s": 1.25e8, "10Gbps": 1.25e9, "125MB/s": 1.25e8, "1000000000bps": 1.25e8, "8bit/s": 1,
		"1kB/s": 1000, "1KB/s": 1000, "1KiB/s": 1024, "2MiB/s": 2 << 20, "1GiB/s": 1 << 30, "0.1TB/s": 1e11, "1GBps": 1e9, "100 Mbit/s": 1.25e7,
	} {
		p, err := ParsePlatform("bus,bandwidth=" + text)
		if err != nil || p.Network.Bandwidth != want || p.InBytes != strings.ContainsAny(text, "bB") {
			t.Errorf("bandwidth=%s: %v (bytes: %v), %v, want %v", text, p.Network.Bandwidth, p.InBytes, err, want)
		}
	}
	for text, want := range map[string]float64{"0": 0, "0.25": 0.25, "5ms": 0.005, "3s": 3, "7us": 7e-6, "7µs": 7e-6, "9ns": 9e-9, "0.3ms": 0.0003} {
		for _, key := range []string{"startup", "latency"} {
			p, err := ParsePlatform("bus," + key + "=" + text)
			if err != nil || p.Machines[0].StartupS != want {
				t.Errorf("%s=%s: %v, %v, want %v", key, text, p.Machines[0].StartupS, err, want)
			}
		}
	}
}

func assumedOf(p Platform, w workflow) string {
	var a model.Account
	p.assume(w, &a)
	return a.Assumed.String()
}

// Every missing value of a platform that matters is reported, and nothing else.
func TestPlatformAssumed(t *testing.T) {
	edges := []model.DAGEdge{{From: "a", To: "b", Data: 5}}
	tasks := []workTask{{ID: "a", Work: 1}, {ID: "b", Work: 2}}
	bytes, plain := workflow{Tasks: tasks, Edges: edges, Measured: true}, workflow{Tasks: tasks, Edges: edges}
	none := []model.DAGEdge{{From: "a", To: "b"}}
	for _, c := range []struct {
		spec      string
		w         workflow
		bandwidth float64
		want      string
	}{
		{"uniform", bytes, 1.25e8, "bandwidth 1 Gbit/s (125 MB/s), as data are in bytes; another by --platform uniform,bandwidth=10Gbps"},
		{"uniform,speed=3", bytes, 1.25e8, "bandwidth 1 Gbit/s (125 MB/s), as data are in bytes; another by --platform uniform,speed=3,bandwidth=10Gbps"},
		{"uniform,bandwidth=1", bytes, 1, ""},
		{"uniform,bandwidth=1MB/s", bytes, 1e6, ""},
		{"uniform,machines=1", bytes, 1, ""},
		{"uniform", workflow{Tasks: tasks, Edges: none, Measured: true}, 1, ""},
		{"bus", plain, 1, "a unit of work takes 1 s; another rate by --platform bus,speed=1e9; a unit of data takes 1 s; another rate by --platform bus,bandwidth=1Gbps"},
		{"bus,speed=2", plain, 1, "a unit of data takes 1 s; another rate by --platform bus,speed=2,bandwidth=1Gbps"},
		{"bus,bandwidth=2", plain, 2, "a unit of work takes 1 s; another rate by --platform bus,bandwidth=2,speed=1e9"},
		{"bus,bandwidth=8bps,speed=1", plain, 1, "a unit of data is a byte"},
		{"bus,bandwidth=8bps,speed=1", workflow{Tasks: tasks, Edges: none}, 1, ""},
		{"bus,bandwidth=2,speed=1", plain, 2, ""},
		{"bus", workflow{Tasks: tasks, Edges: none}, 1, "a unit of work takes 1 s; another rate by --platform bus,speed=1e9"},
	} {
		p := require.Value(ParsePlatform(c.spec))(t)
		d := require.Value(p.place("x", c.w))(t)
		if got := assumedOf(p, c.w); got != c.want || d.Network.Bandwidth != c.bandwidth {
			t.Errorf("%s: bandwidth %v and %q, want %v and %q", c.spec, d.Network.Bandwidth, got, c.bandwidth, c.want)
		}
	}
	two, err := ParsePlatform(write(t, "two.json", platformFile))
	if err != nil || assumedOf(two, plain) != "" || assumedOf(two, bytes) != "" {
		t.Errorf("a file of a platform has its own numbers: %q, %v", assumedOf(two, plain), err)
	}
}

// Works in seconds meet speeds in flop per second only where it is said how.
func TestWorkUnit(t *testing.T) {
	seconds := workflow{Measured: true, Tasks: []workTask{{ID: "a", Work: 10}}}
	flops := Platform{Flops: true, Machines: []model.Machine{{ID: "s", Speed: 1e9}, {ID: "f", Speed: 4e9}}}
	relative := Platform{Machines: []model.Machine{{ID: "s", Speed: 1}, {ID: "f", Speed: 1e9}}}
	for _, c := range []struct {
		p    Platform
		w    workflow
		unit string
		want float64 // of the work; 0: refused
		says string
	}{
		{flops, seconds, "", 0, "--work-unit seconds"}, {flops, seconds, "work", 10, "flop"}, {flops, seconds, "seconds", 4e10, "f of speed 4e+09"},
		{flops, seconds, "seconds=2Gf", 2e10, "2e+09"}, {flops, seconds, "seconds=0", 0, "speed"}, {flops, seconds, "hours", 0, "--work-unit"},
		{flops, workflow{Tasks: seconds.Tasks}, "", 10, "flop"}, {relative, seconds, "", 10, ""}, {relative, seconds, "seconds=2", 20, "speed 2"},
	} {
		w, err := c.p.inWork(c.w, c.unit)
		if c.want == 0 {
			require.Refused(t, c.unit, err, model.ErrInvalid, c.says)
			continue
		}
		require.OK(t, err)
		require.Is(t, c.want, w.Tasks[0].Work, c.unit)
		require.Says(t, "account", c.p.Assumed.String(), c.says)
	}
	require.Is(t, 10.0, seconds.Tasks[0].Work, "the workflow read is as it was")
}
