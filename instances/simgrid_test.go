// SPDX-License-Identifier: MIT

package instances

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// resolved is what SimGrid or gapwise makes of a platform: its hosts, and for each pair of them what a transfer passes.
type resolved struct {
	hosts []string
	paths map[[2]int]*hop
}

type hop struct {
	latencyS, rate float64
	links          map[string]float64 // the shared ones, with their rates
}

// text tells all that matters, whatever the links are called: each host, each path, and the paths that each link is on.
func (r *resolved) text() string {
	var lines []string
	users, rates := map[string][]string{}, map[string]float64{}
	for a := range r.hosts {
		for b := range r.hosts {
			x := r.paths[[2]int{a, b}]
			if x == nil {
				continue
			}
			lines = append(lines, fmt.Sprintf("from %d to %d: latency %.6g rate %.6g", a, b, x.latencyS, x.rate))
			for l, rate := range x.links {
				users[l], rates[l] = append(users[l], fmt.Sprintf("%d-%d", a, b)), rate
			}
		}
	}
	var of []string
	for l, all := range users {
		of = append(of, fmt.Sprintf("a link of rate %.6g on %s", rates[l], strings.Join(all, " ")))
	}
	slices.Sort(of)
	return strings.Join(slices.Concat(r.hosts, lines, of), "\n")
}

// ofSimgrid reads the output of routes.cpp.
func ofSimgrid(t *testing.T, text string) *resolved {
	t.Helper()
	r, index := &resolved{paths: map[[2]int]*hop{}}, map[string]int{}
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
		f := strings.Split(in.Text(), "\t")
		switch f[0] {
		case "host":
			index[f[1]] = len(r.hosts)
			r.hosts = append(r.hosts, fmt.Sprintf("%s %.6g %s", f[1], require.Value(strconv.ParseFloat(f[2], 64))(t), f[3]))
		case "route":
			x := &hop{latencyS: require.Value(strconv.ParseFloat(f[3], 64))(t), rate: maxRate, links: map[string]float64{}}
			for _, l := range f[4:] {
				p := strings.Split(l+"||", "|")
				rate := require.Value(strconv.ParseFloat(p[1], 64))(t)
				if x.rate = min(x.rate, rate); p[2] == "F" {
					continue
				}
				if x.links[p[0]] > 0 {
					x.rate = min(x.rate, rate/2)
				}
				x.links[p[0]] = rate
			}
			r.paths[[2]int{index[f[1]], index[f[2]]}] = x
		default:
			t.Fatalf("%q isn't a line of routes.cpp", in.Text())
		}
	}
	return r
}

// ofPlatform returns what a platform says.
func ofPlatform(p Platform) *resolved {
	r, index, capacity := &resolved{paths: map[[2]int]*hop{}}, map[string]int{}, map[string]float64{}
	for _, l := range p.Network.Links {
		capacity[l.ID] = l.Capacity
	}
	for a, m := range p.Machines {
		cores := int64(1)
		if m.Capacity != nil {
			cores = m.Capacity[0]
		}
		index[m.ID] = a
		r.hosts = append(r.hosts, fmt.Sprintf("%s %.6g %d", m.ID, m.Speed, cores))
		for b := range p.Machines {
			rate := p.Network.Bandwidth
			if p.Network.PathCapacity != nil {
				rate = p.Network.PathCapacity[a][b]
			}
			if a != b && rate > 0 {
				r.paths[[2]int{a, b}] = &hop{rate: rate, links: map[string]float64{}}
			}
		}
	}
	for _, x := range p.Network.Routes {
		ends := [2]int{index[x.From], index[x.To]}
		for _, e := range [][2]int{ends, {ends[1], ends[0]}} {
			if x.OneWay && e != ends {
				continue
			}
			to := r.paths[e]
			to.latencyS = x.LatencyS
			for _, l := range x.Links {
				to.links[l], to.rate = capacity[l], min(to.rate, capacity[l])
			}
		}
	}
	return r
}

// Each small platform has the hosts, routes, rates and latencies that SimGrid 3.32 found in it.
func TestSimgridRoutes(t *testing.T) {
	t.Parallel()
	files := require.Value(filepath.Glob("testdata/simgrid/*.xml"))(t)
	if len(files) < 10 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			p := require.Value(ParsePlatform(file))(t)
			want := ofSimgrid(t, string(require.Value(os.ReadFile(strings.TrimSuffix(file, ".xml")+".tsv"))(t)))
			require.Same(t, "routes", want.text(), ofPlatform(p).text())
			w := workflow{Tasks: []workTask{{ID: "a", Work: 1}, {ID: "b", Work: 1}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 1}}}
			require.Value(p.place("g", w))(t)
		})
	}
}

// Each platform of SimGrid's own examples has, on its first 20 hosts, the hosts and routes that SimGrid 3.32 found in it.
// platforms.tsv has their digests (see resolved.text), or why a file is refused.
func TestSimgridExamples(t *testing.T) {
	t.Parallel()
	folder, program := os.Getenv("GAPWISE_SIMGRID"), os.Getenv("GAPWISE_SIMGRID_ROUTES")
	if folder == "" {
		t.Skip("GAPWISE_SIMGRID names the folder examples/platforms of SimGrid's source (3.32), GAPWISE_SIMGRID_ROUTES the program of testdata/simgrid/routes.cpp")
	}
	rows := strings.Split(strings.TrimSpace(string(require.Value(os.ReadFile("testdata/simgrid/platforms.tsv"))(t))), "\n")
	for _, row := range rows[1:] {
		f := strings.Split(row, "\t")
		t.Run(f[0], func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(folder, f[0])
			require.Is(t, f[1], fmt.Sprintf("%x", sha256.Sum256(require.Value(os.ReadFile(path))(t))), "the file is another version")
			p, err := ParsePlatform(path)
			if err != nil && strings.Contains(err.Error(), "hosts=") || len(p.Machines) > 20 {
				p, err = ParsePlatform(path + ",hosts=20")
			}
			if f[4] == "refused" {
				require.Refused(t, "platform", err, model.ErrInvalid, f[5])
				return
			}
			require.OK(t, err)
			got := ofPlatform(p)
			require.Is(t, f[2]+" "+f[3], fmt.Sprint(len(got.hosts), " ", len(got.paths)), "hosts and routes")
			require.Is(t, f[4], fmt.Sprintf("%x", sha256.Sum256([]byte(got.text()))), "routes")
			require.Is(t, f[5], p.NotModelled.String(), "told")
			if program == "" || f[0] == "small_platform_routing_none.xml" { // which ends SimGrid
				return
			}
			args := []string{path}
			for _, m := range p.Machines {
				args = append(args, m.ID)
			}
			simgrid := exec.Command(program, args...)
			simgrid.Dir = t.TempDir() // for traces that a file asks for
			require.Same(t, "routes", ofSimgrid(t, string(require.Value(simgrid.Output())(t))).text(), got.text())
		})
	}
}

func TestParseSimgrid(t *testing.T) {
	t.Parallel()
	const file = "testdata/simgrid/full.xml"
	ids := func(p Platform) string {
		var all []string
		for _, m := range p.Machines {
			all = append(all, fmt.Sprint(m.ID, m.Capacity))
		}
		return strings.Join(all, " ")
	}
	for spec, want := range map[string]string{
		file:                                           "slow[1] fast & wide[8] plain[1] island[1]",
		"simgrid:" + file + ",hosts=2":                 "slow[1] fast & wide[8]",
		file + ",cores=machines,hosts=2":               "slow[] fast & wide[] fast & wide#1[] fast & wide#2[] fast & wide#3[] fast & wide#4[] fast & wide#5[] fast & wide#6[] fast & wide#7[]",
		"testdata/simgrid/floyd.xml,hosts=1":           "a[]",
		"testdata/simgrid/floyd.xml,cores=capacity":    "a[] b[] c[] d[]",
		"simgrid:testdata/simgrid/clusters.xml":        "o0.x[1] o1.x[1] o2.x[1] o5.x[1] t0[4] t1[4] t2[4] h7[1] h9[1]",
		"testdata/simgrid/clusters.xml,hosts=2":        "o0.x[] o1.x[]",
		"simgrid:testdata/simgrid/vivaldi.xml,hosts=2": "p[] q[]",
	} {
		p := require.Value(ParsePlatform(spec))(t)
		require.Is(t, want, ids(p), spec)
		require.Is(t, true, p.InBytes && p.Flops, spec)
	}
	p := require.Value(ParsePlatform(file + ",cores=machines"))(t)
	require.Is(t, maxRate, p.Network.PathCapacity[1][2], "cores of one host")
	require.Is(t, 0.0, p.Network.PathCapacity[0][10], "no way")
	p = require.Value(ParsePlatform("testdata/simgrid/clusters.xml"))(t)
	require.Is(t, 1e9, p.Machines[7].LocalRate, "loopback")
	require.Is(t, "2 loopbacks with a latency or shared: the model has their rate alone (h7, h9); 12 routes with a link FATPIPE that isn't the slowest, which LV08's weights would count", p.NotModelled.String(), "told")
}

func TestSimgridRefused(t *testing.T) {
	t.Parallel()
	platform := func(inner string) string { return `<platform version="4.1">` + inner + `</platform>` }
	zone := func(inner string) string { return platform(`<zone id="z" routing="Full">` + inner + `</zone>`) }
	const two = `<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="1MBps" latency="1us"/>`
	for text, want := range map[string]string{
		"<adag/>":                                   "begins with the element adag",
		`<platform version="3"/>`:                   "simgrid_update_xml",
		platform(""):                                "no host",
		"<platform version=\"4.1\"><zone":           "line 1:",
		zone(`<host id="a" speed="1Xf"/>`):          "speed is",
		zone(`<host id="a" speed="0"/>`):            "its speed is 0",
		zone(`<host id="a" speed="1Gf" core="0"/>`): "core is",
		zone(`<host id="a" speed="1Gf"/><host id="a" speed="1Gf"/>`):    "a is there twice",
		zone(`<link id="l" bandwidth="0"/>`):                            "bandwidth of link l is 0",
		zone(`<link id="l" bandwidth="1Gf"/>`):                          "bandwidth is",
		zone(`<link id="l" bandwidth="1GBps" sharing_policy="WIFI"/>`):  "WIFI",
		zone(`<link id="l" bandwidth="nanBps"/>`):                       "bandwidth is",
		platform(`<zone id="z" routing="Wifi"/>`):                       "Wifi",
		platform(`<zone id="z" routing="Star"/>`):                       `its routing is "star"`,
		zone(two + `<route src="a" dst="c"><link_ctn id="l"/></route>`): "isn't there",
		zone(two + `<route src="a" dst="b"><link_ctn id="m"/></route>`): "no link m",
		zone(two + `<route src="a" dst="b"/>`):                          "no link",
		zone(two + `<zone id="y" routing="Full"/>`):                     "beside hosts",
		zone(`<zone id="y" routing="Full"/>` + two):                     "beside hosts",
		zone(`<gpu/>`): "gpu",
		zone("&bomb;"): "entity",
		zone(two + strings.Repeat(`<route src="a" dst="b"><link_ctn id="l"/></route>`, 2)): "twice",
		platform(strings.Repeat(`<zone id="z" routing="Full">`, 100)):                      "",
		clusterXML("0-1000000000", "FLAT", ""):                                             "100000 hosts",
		clusterXML("0-99999999999999999999", "", ""):                                       "radical is",
		clusterXML("5-2", "FLAT", ""):                                                      "radical is",
		clusterXML("0-3", "TORUS", "100000,100000"):                                        "topology needs more",
		clusterXML("0-3", "FAT_TREE", "2;2,2;1"):                                           "four parts",
		clusterXML("0-3", "DRAGONFLY", "4,1;1,1;1,1;1"):                                    "as many groups",
		clusterXML("0-1999", "FLAT", ""):                                                   "hosts=1000",
	} {
		_, err := readSimgrid([]byte(text), simgridOptions{})
		require.Refused(t, text, err, model.ErrInvalid, want)
	}
	for _, spec := range []string{"simgrid:none.xml", "testdata/simgrid/full.xml,hosts=0", "testdata/simgrid/full.xml,hosts=9", "testdata/simgrid/full.xml,cores=2"} {
		_, err := ParsePlatform(spec)
		require.Refused(t, spec, err, model.ErrInvalid, "")
	}
}

func clusterXML(radical, topology, parameters string) string {
	return `<platform version="4.1"><cluster id="c" prefix="" suffix="" speed="1Gf" bw="1GBps" lat="0" radical="` + radical + `" topology="` + topology + `" topo_parameters="` + parameters + `"/></platform>`
}

// What the reader takes is a platform on which a graph can stand.
func FuzzSimgrid(f *testing.F) {
	for _, file := range require.Files(f, "testdata/simgrid/*.xml") {
		f.Add(require.Value(os.ReadFile(file))(f))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range []simgridOptions{{hosts: 2}, {machines: true}} {
			p, err := readSimgrid(text, o)
			if err != nil {
				require.Refused(t, "platform", err, model.ErrInvalid, "")
				continue
			}
			if len(p.Machines) > 50 {
				return
			}
			_, err = p.place("g", workflow{Tasks: []workTask{{ID: "a", Work: 1}}})
			require.OK(t, err)
		}
	})
}

// A part of a way that no route states is free in SimGrid, without a word; the account names the ways.
func TestSimgridFreeParts(t *testing.T) {
	const platform = `<platform version="4.1"><zone id="w" routing="Full">
		<zone id="A" routing="Full"><host id="a1" speed="1Gf"/><host id="a2" speed="1Gf"/><link id="inner" bandwidth="1MBps" latency="1ms"/>%s</zone>
		<zone id="B" routing="Full"><host id="b1" speed="1Gf"/></zone><link id="outer" bandwidth="100MBps" latency="50us"/>
		<zoneRoute src="A" dst="B" gw_src="a2" gw_dst="b1"><link_ctn id="outer"/></zoneRoute></zone></platform>`
	for route, want := range map[string]bool{"": true, `<route src="a1" dst="a2"><link_ctn id="inner"/></route>`: false} {
		path := filepath.Join(t.TempDir(), "p.xml")
		require.OK(t, os.WriteFile(path, fmt.Appendf(nil, platform, route), 0o666))
		p := require.Value(ParsePlatform(path))(t)
		told := slices.ContainsFunc(p.Assumed, func(x model.Telling) bool {
			return x.Count == 2 && slices.Equal(x.First, []string{"a1 to b1", "b1 to a1"}) && strings.Contains(x.Text, "that part is free")
		})
		if told != want {
			t.Errorf("with the route %q it is told %v: %+v", route, told, p.Assumed)
		}
	}
}
