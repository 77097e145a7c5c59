// SPDX-License-Identifier: MIT

//go:build !js

package instances

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/simgrid"
	"github.com/gapwise/gapwise/model"
)

// simgridPrefix begins a platform that names a file of SimGrid.
const simgridPrefix = "simgrid:"

// simgridOptions are what follows a file of SimGrid.
type simgridOptions struct {
	hosts    int  // the first ones of the file; 0: all
	machines bool // a core is a machine
}

// cutSimgrid takes the options from the end of a platform, and the prefix from its beginning.
func cutSimgrid(spec string) (path string, o simgridOptions, given bool, err error) {
	path, given = strings.CutPrefix(spec, simgridPrefix)
	for {
		k := strings.LastIndexByte(path, ',')
		key, value, ok := strings.Cut(path[k+1:], "=")
		if k < 0 || !ok || key != "hosts" && key != "cores" {
			return path, o, given, nil
		}
		switch n, err := strconv.Atoi(value); {
		case key == "hosts" && (err != nil || n < 1):
			return "", o, false, badPlatform(spec, "hosts is %q, must be a whole number from 1", value)
		case key == "hosts":
			o.hosts = n
		case value != "capacity" && value != "machines":
			return "", o, false, badPlatform(spec, "cores is %q, must be capacity (a host runs as many tasks as it has cores) or machines (a core is a machine)", value)
		default:
			o.machines = value == "machines"
		}
		path, given = path[:k], true
	}
}

// sharedMaxMin is told of SimGrid's platforms without LV08.
const sharedMaxMin = "links are shared max-min, without SimGrid's factors, weights and TCP windows: --network lv08 has them"

// readSimgrid makes a platform of a file of SimGrid: a machine for each host, which runs as many tasks as it has cores, or
// for each core. A core is what a task of SimGrid runs on, and cores of a host exchange data without a network, so hosts
// are the machines by default. Links of policy FATPIPE bound the rate of a path, the others are shared. O(n² × length of a
// route) for n machines.
func readSimgrid(data []byte, o simgridOptions) (p Platform, err error) {
	file, err := simgrid.Read(data)
	if err != nil {
		return p, fmt.Errorf("%w platform: %w", model.ErrInvalid, err)
	}
	p.InBytes, p.Flops, p.NotModelled = true, true, slices.Clone(file.Told)
	hosts := file.Hosts
	if o.hosts > len(hosts) {
		return p, fmt.Errorf("%w platform: hosts is %d, the file has %d", model.ErrInvalid, o.hosts, len(hosts))
	}
	if o.hosts > 0 && o.hosts < len(hosts) {
		p.Assumed.Say("the first %d of %d hosts", o.hosts, len(hosts))
		hosts = hosts[:o.hosts]
	}
	var of []int // the host of each machine
	most := slices.MaxFunc(hosts, func(a, b *simgrid.Host) int { return a.Cores - b.Cores }).Cores
	for k, h := range hosts {
		m := model.Machine{ID: h.Name, Speed: h.Speed}
		links, latencyS, ok, _ := file.Route(k, k)
		if ok {
			m.LocalRate = slowest(links)
			if latencyS > 0 || slices.ContainsFunc(links, func(l *simgrid.Link) bool { return !l.Fat }) {
				p.NotModelled.Add(h.Name, "loopbacks with a latency or shared: the model has their rate alone")
			}
		}
		if most > 1 && !o.machines {
			m.Capacity = []int64{int64(h.Cores)}
		}
		for core := range h.Cores {
			if core > 0 {
				m.ID = fmt.Sprintf("%s#%d", h.Name, core)
			}
			if of, p.Machines = append(of, k), append(p.Machines, m); len(of) > maxRouted {
				return p, fmt.Errorf("%w platform: it has more than %d machines, which have a route for each pair; take the first ones by "+
					"--platform simgrid:FILE,hosts=%d", model.ErrInvalid, maxRouted, max(1, maxRouted/most))
			}
			if !o.machines {
				break
			}
		}
	}
	switch {
	case most > 1 && o.machines:
		p.Assumed.Say("a machine for each core")
	case most > 1:
		p.Resources = []string{resourceCores}
		p.Assumed.Say("a host of several cores is a machine that runs as many tasks (cores=machines: a machine for each core)")
	}
	p.Assumed.Say(sharedMaxMin)
	return p, p.connect(file, of)
}

// slowest returns the least rate of links, the largest there is without any.
func slowest(links []*simgrid.Link) float64 {
	rate := float64(maxRate)
	for _, l := range links {
		rate = min(rate, l.Rate)
	}
	return rate
}

// maxPassed bounds the links of all routes.
const maxPassed = 20_000_000

// connect makes the network of a file's routes; of has the host of each machine.
func (p *Platform) connect(file *simgrid.Platform, of []int) error {
	n, known, capacity := len(of), map[*simgrid.Link]bool{}, 0.0
	rates, first, capped := make([][]float64, n), map[[2]int]int{}, false
	apart, passed, fat := 0, 0, 0
	for a := range n {
		rates[a] = make([]float64, n)
		for b := range n {
			if a == b {
				continue
			}
			links, latencyS, ok, err := file.Route(of[a], of[b])
			if err != nil {
				return fmt.Errorf("%w platform: %w", model.ErrInvalid, err)
			}
			rates[a][b] = slowest(links)
			if !ok && of[a] != of[b] {
				rates[a][b] = 0
				apart++
			}
			if passed += len(links); passed > maxPassed {
				return fmt.Errorf("%w platform: its routes have more than %d links; take the first hosts by --platform simgrid:FILE,hosts=%d", model.ErrInvalid, maxPassed, max(1, n/4))
			}
			if slices.ContainsFunc(links, func(l *simgrid.Link) bool { return l.Fat && l.Rate != rates[a][b] }) {
				fat++
			}
			r := model.Route{From: p.Machines[a].ID, To: p.Machines[b].ID, Links: []string{}, LatencyS: latencyS, OneWay: true}
			twice := false
			for _, l := range links {
				if l.Fat {
					continue
				}
				if slices.Contains(r.Links, l.Name) {
					twice, rates[a][b] = true, min(rates[a][b], l.Rate/2)
					continue
				}
				if !known[l] {
					known[l], capacity = true, max(capacity, l.Rate)
					p.Network.Links = append(p.Network.Links, model.Link{ID: l.Name, Capacity: l.Rate})
				}
				r.Links = append(r.Links, l.Name)
			}
			if twice {
				p.NotModelled.Add(r.From+" to "+r.To, "routes with a link twice: they have half of its rate, others see them once")
			}
			alone := slowest(slices.DeleteFunc(slices.Clone(links), func(l *simgrid.Link) bool { return l.Fat }))
			capped = capped || rates[a][b] < alone || len(r.Links) == 0
			if len(r.Links) == 0 && latencyS == 0 {
				continue
			}
			if k, ok := first[[2]int{b, a}]; ok && p.Network.Routes[k].LatencyS == latencyS && sameLinks(p.Network.Routes[k].Links, r.Links) {
				p.Network.Routes[k].OneWay = false
				continue
			}
			first[[2]int{a, b}] = len(p.Network.Routes)
			p.Network.Routes = append(p.Network.Routes, r)
		}
	}
	p.Assumed = append(p.Assumed, file.Free...)
	p.NotModelled.Count(fat, "routes with a link FATPIPE that isn't the slowest, which LV08's weights would count")
	p.Assumed.Count(apart, "pairs of machines that can't send to each other, for want of a route")
	switch p.Network.Bandwidth = capacity; {
	case n == 1:
		p.Network.Bandwidth = 1 // of no use
	case capped:
		p.Network.Bandwidth, p.Network.PathCapacity = 0, rates
	}
	return nil
}

// sameLinks reports whether two routes have the same links.
func sameLinks(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(l string) bool { return !slices.Contains(b, l) })
}
