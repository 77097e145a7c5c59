// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestParsePlatform(t *testing.T) {
	machines := func(startup float64, speeds ...float64) []model.Machine {
		var all []model.Machine
		for m, s := range speeds {
			all = append(all, model.Machine{ID: "P" + string(rune('1'+m)), Speed: s, StartupS: startup})
		}
		return all
	}
	links := func(ids ...string) []model.Link {
		var all []model.Link
		for _, id := range ids {
			all = append(all, model.Link{ID: id})
		}
		return all
	}
	route := func(from, to string, oneWay bool, links ...string) model.Route {
		return model.Route{From: from, To: to, Links: links, OneWay: oneWay}
	}
	for spec, want := range map[string]Platform{
		"paper": {Machines: machines(0, 1, 1, 1), Network: model.Network{Bandwidth: 1, Links: links("b1"),
			Routes: []model.Route{route("P1", "P2", false, "b1"), route("P3", "P2", false, "b1")}}},
		"paper,machines=3,speed=4/2": {Machines: machines(0, 4, 2, 4), Network: model.Network{Bandwidth: 1, Links: links("b1"),
			Routes: []model.Route{route("P1", "P2", false, "b1"), route("P3", "P2", false, "b1")}}},
		"paper-two-pools,bandwidth=5": {Machines: machines(0, 1, 1, 1), Network: model.Network{Bandwidth: 5, Links: links("in", "out"),
			Routes: []model.Route{route("P1", "P2", true, "in"), route("P2", "P1", true, "out"), route("P3", "P2", true, "in"), route("P2", "P3", true, "out")}}},
		"uniform":            {Machines: machines(0, 1, 1, 1, 1), Network: model.Network{Bandwidth: 1}},
		"uniform,machines=1": {Machines: machines(0, 1), Network: model.Network{Bandwidth: 1}},
		"uniform,startup=0.5,machines=5,speed=1/2/.5": {Machines: machines(0.5, 1, 2, 0.5, 1, 2), Network: model.Network{Bandwidth: 1}},
		"bus,machines=3,bandwidth=1e8": {Machines: machines(0, 1, 1, 1), Network: model.Network{Bandwidth: 1e8, Links: links("bus"),
			Routes: []model.Route{route("P1", "P2", false, "bus"), route("P1", "P3", false, "bus"), route("P2", "P3", false, "bus")}}},
		"star,machines=2,speed=3": {Machines: machines(0, 3, 3), Network: model.Network{Bandwidth: 1, Links: links("P1.up", "P1.down", "P2.up", "P2.down"),
			Routes: []model.Route{route("P1", "P2", true, "P1.up", "P2.down"), route("P2", "P1", true, "P2.up", "P1.down")}}},
	} {
		t.Run(spec, func(t *testing.T) {
			got := require.Value(ParsePlatform(spec))(t)
			want.Name = spec
			for _, key := range []string{"speed", "bandwidth"} {
				if !strings.Contains(spec, key) {
					want.Defaults = append(want.Defaults, key)
				}
			}
			require.Same(t, "result", want, got)
		})
	}
}

func TestParsePlatformErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                         "there is no such file or preset, give one of paper, paper-two-pools, uniform, bus, star",
		"moon":                     "there is no such file or preset",
		"Bus":                      "there is no such file or preset",
		"bus,":                     `"" must be key=value`,
		"bus,machines":             `"machines" must be key=value`,
		"bus,machines=":            `machines is "", must be a whole number`,
		"bus,machines=2.5":         `machines is "2.5", must be a whole number`,
		"bus,machines=0":           "machines is 0, must be from 1 to 10000",
		"uniform,machines=-4":      "machines is -4, must be from 1 to 10000",
		"uniform,machines=10001":   "machines is 10001, must be from 1 to 10000",
		"star,machines=1001":       "machines is 1001, must be at most 1000: it has a route for each pair",
		"bus,machines=3,machines=": `the key "machines" is there twice`,
		"bus,colour=red":           `there is no key "colour", give machines, speed, cores, memory, bandwidth or startup`,
		"bus,speed=fast":           `speed is "fast", must be a number`,
		"bus,speed=1//2":           `speed is "", must be a number`,
		"bus,speed=1/0":            "speed is 0, must be above 0",
		"bus,speed=nan":            "speed is nan, must be above 0",
		"bus,speed=1/2/3/4/5":      "there are 5 speeds for 4 machines",
		"bus,bandwidth=1gbps":      `bandwidth is "1gbps", must be a number, or one of bits or bytes a second such as 1Gbps, 10Gbit/s or 125MB/s`,
		"bus,bandwidth=MB/s":       `bandwidth is "MB/s", must be a number, or one of bits`,
		"bus,bandwidth=-1Gbps":     "bandwidth is -1Gbps, must be above 0",
		"bus,bandwidth=5ms":        `bandwidth is "5ms", must be a number, or one of bits`,
		"bus,latency=5m":           `latency is "5m", must be a number, or a time such as 5ms`,
		"bus,latency=1,startup=1":  "startup and latency are the same: give one",
		"bus,speed=1Gbps":          `speed is "1Gbps", must be a number`,
		"bus,bandwidth=inf":        "bandwidth is inf, must be above 0, at most 1e+30",
		"bus,bandwidth=1e31":       "bandwidth is 1e31, must be above 0",
		"bus,startup=-1":           "startup is -1, must be at least 0",
		"bus,startup=nan":          "startup is nan, must be at least 0",
		"paper,machines=4":         "machines is 4, but it has three machines",
		"paper-two-pools,up=1":     `there is no key "up"`,
	} {
		t.Run(spec, func(t *testing.T) {
			_, err := ParsePlatform(spec)
			wantError(t, err, "invalid platform \""+spec+"\": "+want)
		})
	}
}

const platformFile = `{
  "machines": [
    {"id": "big", "speed": 4, "startup_s": 0.1},
    {"id": "small", "speed": 1}
  ],
  "network": {
    "bandwidth": 10,
    "links": [{"id": "l", "capacity": 5}],
    "routes": [{"from": "big", "to": "small", "links": ["l"]}]
  }
}
`

func TestPlatformFile(t *testing.T) {
	path := write(t, "two.json", platformFile)
	got := require.Value(ParsePlatform(path))(t)
	want := Platform{Name: "two", Machines: []model.Machine{{ID: "big", Speed: 4, StartupS: 0.1}, {ID: "small", Speed: 1}},
		Network: model.Network{Bandwidth: 10, Links: []model.Link{{ID: "l", Capacity: 5}}, Routes: []model.Route{{From: "big", To: "small", Links: []string{"l"}}}}}
	require.Same(t, "result", want, got)
	one, err := model.DecodePlatform([]byte(`{"machines":[{"id":"m","speed":1}],"network":{"bandwidth":1}}`))
	if err != nil || len(one.Machines) != 1 {
		t.Errorf("one machine: %v", err)
	}
}

func TestPlatformFileErrors(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"empty":              {platformFile, "", "invalid JSON: line 1: unexpected end"},
		"a list":             {platformFile, "[]", "invalid JSON: line 1: the file must be an object"},
		"cut off":            {"}\n}\n", "", "invalid JSON: line 10: unexpected end"},
		"no JSON":            {`"speed": 4,`, `"speed": 4`, "invalid JSON: line 3: invalid character"},
		"something follows":  {"}\n}\n", "}\n}\n{}", "invalid JSON: line 12: "},
		"unknown key":        {`"network"`, `"net"`, `invalid JSON: line 6: unknown key "net"; known here: machines, network`},
		"unknown key within": {`"capacity"`, `"rate"`, `invalid JSON: line 8: unknown key "network.links[0].rate"`},
		"another case":       {`"machines"`, `"Machines"`, `invalid JSON: line 2: unknown key "Machines"`},
		"a key twice":        {`"network"`, `"machines"`, `invalid JSON: line 6: the key "machines" is there twice`},
		"an instance":        {`"machines"`, `"kind":"dag","machines"`, `invalid JSON: line 2: unknown key "kind"; known here: machines, network`},
		"tasks":              {`"machines"`, `"tasks":[],"machines"`, `invalid JSON: line 2: unknown key "tasks"`},
		"no machines key":    {platformFile, `{"network":{"bandwidth":1}}`, `invalid JSON: line 1: the key "machines" is missing`},
		"no machine":         {platformFile, `{"machines":[],"network":{"bandwidth":1}}`, "invalid platform: machines is empty"},
		"nothing":            {platformFile, `{}`, `invalid JSON: line 1: the key "machines" is missing`},
		"an id twice":        {`"small", "speed"`, `"big", "speed"`, `invalid platform: line 4: machines[1]: id "big" is taken by machines[0] already`},
		"no id":              {`"id": "small", "speed"`, `"id": "", "speed"`, "invalid platform: line 4: machines[1]: id \"\": id is missing or empty"},
		"no speed":           {`"small", "speed": 1`, `"small"`, `invalid platform: line 4: machines[1]: id "small": speed is missing`},
		"negative speed":     {`"speed": 1`, `"speed": -1`, `invalid platform: line 4: machines[1]: id "small": speed is -1`},
		"a word as speed":    {`"speed": 1`, `"speed": "fast"`, "invalid JSON: line 4: "},
		"no bandwidth":       {`"bandwidth": 10,`, ``, "invalid platform: network.bandwidth is missing"},
		"nothing to send by": {platformFile, `{"machines":[{"id":"a","speed":1},{"id":"b","speed":1}]}`, "invalid platform: network.bandwidth is missing"},
		"unknown link":       {`["l"]`, `["k"]`, `invalid platform: line 9: network.routes[0]: there is no link "k"`},
		"unknown machine":    {`"to": "small"`, `"to": "tiny"`, `invalid platform: line 9: network.routes[0]: to is "tiny", there is no such machine`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(platformFile, c.old, c.new, 1)
			if text == platformFile {
				t.Fatalf("there is no %s to replace", c.old)
			}
			path := write(t, "p.json", text)
			_, err := ParsePlatform(path)
			if err == nil || !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), path+": "+c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line that begins with %q", err, path+": "+c.want)
			}
		})
	}
}

// write makes a file in a folder of the test's own.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.OK(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// An instance is the workflow's work over the platform's speeds, and changing
// it changes neither.
func TestPlace(t *testing.T) {
	p := require.Value(ParsePlatform("paper,speed=1/2/4,bandwidth=10,startup=1"))(t)
	w := workflow{Tasks: []workTask{{ID: "a", Work: 8}, {ID: "b", Work: 0}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 5}}}
	d := require.Value(p.place("two", w))(t)
	g := view.OfDAG(d)
	if diff := cmp.Diff([]float64{8, 4, 2, 0, 0, 0}, g.Cost); diff != "" || d.Name != "two" {
		t.Errorf("name %q, costs (-want +got)\n%s", d.Name, diff)
	}
	if c := g.Comm(0, 0, 1); c != 1.5 {
		t.Errorf("the transfer takes %v, want 1.5: the start-up and 5/10", c)
	}
	*d.Tasks[0].Work, d.Edges[0].Data, d.Machines[0].Speed, d.Network.Links[0].ID, d.Network.Routes[0].OneWay = 1, 1, 9, "x", true
	untouched := require.Value(ParsePlatform("paper,speed=1/2/4,bandwidth=10,startup=1"))(t)
	require.Same(t, "a change of the instance changed the platform", untouched, p)
	if w.Tasks[0].Work != 8 || w.Edges[0].Data != 5 {
		t.Errorf("a change of the instance changed the workflow: %v", w)
	}
	empty, err := p.place("empty", workflow{})
	if err != nil || empty.Tasks == nil || empty.Edges == nil {
		t.Errorf("no tasks: %v, tasks and edges must be empty lists", err)
	}
	for name, c := range map[string]struct {
		w    workflow
		want string
	}{
		"cycle":     {workflow{Tasks: w.Tasks, Edges: []model.DAGEdge{{From: "a", To: "b"}, {From: "b", To: "a"}}}, "invalid dag instance: the edges make a cycle: a -> b -> a"},
		"much work": {workflow{Tasks: []workTask{{ID: "a", Work: 1e31}}}, `invalid dag instance: tasks[0]: id "a": work is 1e+31`},
		"much data": {workflow{Tasks: w.Tasks, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 1e31}}}, `invalid dag instance: edges[0]: from "a" to "b": data is 1e+31`},
	} {
		d, err := p.place(name, c.w)
		wantError(t, err, c.want)
		if d != nil {
			t.Errorf("%s: there is an instance beside the error", name)
		}
	}
}

func FuzzParsePlatform(f *testing.F) {
	f.Add("star,machines=3,speed=1/2,bandwidth=3,startup=0.5", []byte(platformFile))
	f.Add("paper", []byte(`{"machines":[]}`))
	f.Add("uniform,machines=10000", []byte(`{"machines":[{"id":"m","speed":1}],"network":{"bandwidth":1}} x`))
	one := workflow{Tasks: []workTask{{ID: "a", Work: 1}, {ID: "b", Work: 1}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 1}}}
	f.Fuzz(func(t *testing.T, spec string, file []byte) {
		name, _, _ := strings.Cut(spec, ",")
		for _, x := range presets {
			if x[0] != name { // never open files that the fuzzer thinks of
				continue
			}
			p, err := ParsePlatform(spec)
			if err != nil {
				require.Refused(t, "error", err, model.ErrInvalid, "")
			} else if _, err := p.place("x", one); err != nil {
				t.Errorf("%q: %v", spec, err)
			}
		}
		d, err := model.DecodePlatform(file)
		if err != nil {
			require.Refused(t, "error", err, model.ErrInvalid, "")
		} else if _, err := (Platform{Machines: d.Machines, Network: d.Network}).place("x", one); err != nil && len(d.Resources) == 0 {
			t.Errorf("%q: %v", file, err)
		}
	})
}
