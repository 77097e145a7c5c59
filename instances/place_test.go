// SPDX-License-Identifier: MIT

package instances

import (
	"strings"
	"testing"

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

// Every missing value of a platform that matters is reported, and nothing else.
func TestPlatformAssumed(t *testing.T) {
	edges := []model.DAGEdge{{From: "a", To: "b", Data: 5}}
	tasks := []workTask{{"a", 1}, {"b", 2}}
	bytes, plain := Workflow{Tasks: tasks, Edges: edges, Measured: true}, Workflow{Tasks: tasks, Edges: edges}
	none := []model.DAGEdge{{From: "a", To: "b"}}
	for _, c := range []struct {
		spec      string
		w         Workflow
		bandwidth float64
		want      string
	}{
		{"uniform", bytes, 1.25e8, "platform uniform: bandwidth 1 Gbit/s (125 MB/s) is assumed, as the graph's data are in bytes; another by --platform uniform,bandwidth=10Gbps"},
		{"uniform,speed=3", bytes, 1.25e8, "platform uniform,speed=3: bandwidth 1 Gbit/s (125 MB/s) is assumed, as the graph's data are in bytes; another by --platform uniform,speed=3,bandwidth=10Gbps"},
		{"uniform,bandwidth=1", bytes, 1, ""},
		{"uniform,bandwidth=1MB/s", bytes, 1e6, ""},
		{"uniform,machines=1", bytes, 1, ""},
		{"uniform", Workflow{Tasks: tasks, Edges: none, Measured: true}, 1, ""},
		{"bus", plain, 1, "platform bus: the graph has no units; it is assumed that a unit of work takes 1 s, and that a unit of data takes 1 s; other rates by --platform bus,speed=1e9,bandwidth=1Gbps"},
		{"bus,speed=2", plain, 1, "platform bus,speed=2: the graph has no units; it is assumed that a unit of data takes 1 s; other rates by --platform bus,speed=2,bandwidth=1Gbps"},
		{"bus,bandwidth=2", plain, 2, "platform bus,bandwidth=2: the graph has no units; it is assumed that a unit of work takes 1 s; other rates by --platform bus,bandwidth=2,speed=1e9"},
		{"bus,bandwidth=8bps,speed=1", plain, 1, "platform bus,bandwidth=8bps,speed=1: the graph has no units; it is assumed that a unit of data is a byte"},
		{"bus,bandwidth=8bps,speed=1", Workflow{Tasks: tasks, Edges: none}, 1, ""},
		{"bus,bandwidth=2,speed=1", plain, 2, ""},
		{"bus", Workflow{Tasks: tasks, Edges: none}, 1, "platform bus: the graph has no units; it is assumed that a unit of work takes 1 s; other rates by --platform bus,speed=1e9"},
	} {
		p, err := ParsePlatform(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Place("x", c.w)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.assumed(c.w); got != c.want || d.Network.Bandwidth != c.bandwidth {
			t.Errorf("%s: bandwidth %v and %q, want %v and %q", c.spec, d.Network.Bandwidth, got, c.bandwidth, c.want)
		}
	}
	two, err := ParsePlatform(write(t, "two.json", platformFile))
	if err != nil || two.assumed(plain) != "" || two.assumed(bytes) != "" {
		t.Errorf("a file of a platform has its own numbers: %q, %v", two.assumed(plain), err)
	}
}
