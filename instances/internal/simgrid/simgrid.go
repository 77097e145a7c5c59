// SPDX-License-Identifier: MIT

// Package simgrid reads platforms of SimGrid (simgrid.dtd 4.1), and finds the routes that SimGrid 3.32 finds in them. It
// knows the zones Full, Floyd, Dijkstra, DijkstraCache, Cluster, Vivaldi and None, clusters of all topologies, gateways
// and bypasses.
package simgrid

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gapwise/gapwise/model"
)

// Link is a link of one direction, or of both. A fat one isn't shared: it bounds each transfer.
type Link struct {
	Name           string
	Rate, LatencyS float64 // bytes per second, seconds
	Fat            bool
}

// Host is a machine of the platform.
type Host struct {
	Name  string
	Speed float64 // flop per second, of each core
	Cores int
	point *point
}

// Platform is the hosts of a file, in its order.
type Platform struct {
	Hosts []*Host
	// Told names what the file says and routes and hosts don't.
	Told model.Tellings
	// Free names the routes found so far of which a part within a zone isn't stated.
	Free model.Tellings
}

// Route returns the links between two hosts, and the latency of a transfer in seconds; ok is false if there is no way.
// From a host to itself it is the loopback that the file states.
func (p *Platform) Route(a, b int) (links []*Link, latencyS float64, ok bool, err error) {
	var w walk
	if a == b {
		w.links = p.Hosts[a].point.loop
	} else if err = w.lead(p.Hosts[a].point, p.Hosts[b].point); errors.Is(err, errNoWay) {
		return nil, 0, false, nil
	} else if err != nil {
		return nil, 0, false, fmt.Errorf("from host %s to %s: %w", p.Hosts[a].Name, p.Hosts[b].Name, err)
	}
	if len(w.links) > maxLinks {
		return nil, 0, false, fmt.Errorf("from host %s to %s: there are more than %d links on the route", p.Hosts[a].Name, p.Hosts[b].Name, maxLinks)
	}
	for _, l := range w.links {
		w.latencyS += l.LatencyS
	}
	if w.free && len(w.links) > 0 {
		p.Free.Add(p.Hosts[a].Name+" to "+p.Hosts[b].Name, "routes through a zone without a route to its gateway: that part is free, as in SimGrid")
	}
	// SimGrid takes a route of nothing for none.
	return w.links, w.latencyS, len(w.links) > 0 || w.latencyS > 0, nil
}

// The most hosts and routers, zones within each other, and links of a route in a file.
const (
	maxHosts = 100_000
	maxDepth = 50
	maxLinks = 1_000
)

// attributes are those of an element.
type attributes map[string]string

// or returns an attribute, or what stands for an empty one.
func (a attributes) or(key, none string) string { return cmp.Or(a[key], none) }

// in reads a quantity in one of the units, unless there has been an error; none stands for a missing one.
func (a attributes) in(units map[string]float64, key, none string, err *error) (x float64) {
	if *err == nil {
		x, *err = quantity(key, a.or(key, none), units)
	}
	return x
}

// reader walks through the elements of a file.
type reader struct {
	dec      *xml.Decoder
	hosts    []*Host
	told     model.Tellings
	points   map[string]*point
	links    map[string]*Link
	zone     *zone // that of the element
	top      *zone
	depth    int
	route    attributes // of the route that the element stands in
	way      []step
	leaves   int               // hosts of fat trees
	config   map[string]string // settings and properties, by what they are
	inConfig bool
	begun    bool
}

var errMixed = errors.New("a zone can't hold zones beside hosts and routers")

// step is a link of a route, with what the way back has in its place.
type step struct{ there, back *Link }

// Read reads a platform. Errors say the line. O(length of the file + hosts of clusters).
func Read(data []byte) (*Platform, error) {
	r := reader{dec: xml.NewDecoder(bytes.NewReader(data)), points: map[string]*point{}, links: map[string]*Link{}, config: map[string]string{}}
	r.dec.CharsetReader = func(_ string, text io.Reader) (io.Reader, error) { return text, nil }
	if !utf8.Valid(data) {
		return nil, errors.New("the text isn't UTF-8")
	}
	for {
		token, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			switch x := token.(type) {
			case xml.StartElement:
				at := attributes{}
				for _, a := range x.Attr {
					at[a.Name.Local] = a.Value
				}
				err = r.begin(x.Name.Local, at)
			case xml.EndElement:
				err = r.end(x.Name.Local)
			}
		}
		if err != nil {
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				err = errors.New(syntax.Msg)
			}
			line, _ := r.dec.InputPos()
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if len(r.hosts) == 0 {
		return nil, errors.New("there is no host in it")
	}
	byClass := map[string][]string{}
	for name, class := range r.config {
		byClass[class] = append(byClass[class], name)
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		slices.Sort(byClass[class])
		for _, name := range byClass[class] {
			r.told.Add(name, class)
		}
	}
	return &Platform{Hosts: r.hosts, Told: r.told}, nil
}

// Texts of the account.
const (
	profiles   = "profiles of speed, bandwidth, latency or failures, as if there were none"
	settings   = "settings of SimGrid"
	properties = "props that plugins and programs read"
)

// begin takes the beginning of an element.
func (r *reader) begin(name string, at attributes) error {
	for _, key := range []string{"speed_file", "availability_file", "state_file", "bandwidth_file", "latency_file"} {
		if at[key] != "" {
			r.told.Add(at["id"], profiles)
		}
	}
	within := func(err error) error {
		if err != nil {
			err = fmt.Errorf("%s %s: %w", name, at["id"], err)
		}
		return err
	}
	if !r.begun && name != "platform" {
		return fmt.Errorf("it begins with the element %s, a platform of SimGrid with platform", name)
	}
	r.begun = true
	if r.zone == nil && !slices.Contains([]string{"platform", "zone", "AS", "cluster", "config", "prop", "trace", "trace_connect", "process", "actor", "argument", "random", "include"}, name) {
		return fmt.Errorf("the element %s stands outside a zone", name)
	}
	switch name {
	case "platform":
		if version, err := strconv.ParseFloat(at["version"], 64); err != nil || version < 4 {
			return fmt.Errorf("version is %q, 4 and later are read: simgrid_update_xml brings older files there", at["version"])
		}
	case "zone", "AS":
		if r.depth++; r.depth > maxDepth {
			return fmt.Errorf("more than %d zones stand within each other", maxDepth)
		}
		z, err := r.newZone(at["id"], strings.ToLower(at["routing"]))
		r.zone = z
		return within(err)
	case "cluster":
		return within(r.cluster(at))
	case "host":
		_, err := r.host(r.zone, at["id"], at)
		return within(err)
	case "router":
		_, err := r.place(r.zone, at["id"], at)
		return within(err)
	case "peer":
		return within(r.peer(at))
	case "cabinet":
		return within(r.cabinet(at))
	case "link", "backbone":
		return within(r.link(name, at))
	case "host_link":
		p, up, down := r.points[at["id"]], r.links[at["up"]], r.links[at["down"]]
		if p == nil || up == nil || down == nil || p.zone != r.zone || r.zone.spokes == nil {
			return fmt.Errorf("host_link %s: there is no such host in a zone of Cluster, or no link %s or %s", at["id"], at["up"], at["down"])
		}
		r.zone.spokes[p] = spoke{[]*Link{up}, []*Link{down}}
	case "route", "zoneRoute", "ASroute", "bypassRoute", "bypassZoneRoute", "bypassASroute":
		r.route, r.way = at, nil
	case "link_ctn":
		return r.pass(at)
	case "trace_connect":
		r.told.Add(at["element"], profiles)
	case "prop":
		class := properties
		if r.inConfig {
			class = settings
		}
		r.config[at["id"]] = class
	case "disk", "storage", "storage_type", "mount":
		r.told.Add(at["id"], "disks")
	case "process", "actor":
		r.told.Add(at["function"], "actors")
	case "config":
		r.inConfig = true
	case "argument", "trace", "random", "model_prop":
	default:
		return fmt.Errorf("the element %s isn't read", name)
	}
	return nil
}

// end takes the end of an element.
func (r *reader) end(name string) error {
	switch name {
	case "config":
		r.inConfig = false
	case "zone", "AS":
		r.zone, r.depth = r.zone.self.zone, r.depth-1
	case "route", "zoneRoute", "ASroute", "bypassRoute", "bypassZoneRoute", "bypassASroute":
		at := r.route
		r.route = nil
		if err := r.join(name, at); err != nil {
			return fmt.Errorf("%s from %s to %s: %w", name, at["src"], at["dst"], err)
		}
	}
	return nil
}

// newZone adds a zone to the one of the element.
func (r *reader) newZone(name, routing string) (*zone, error) {
	z := &zone{routing: routing, bypass: map[[2]*point]*way{}, ways: map[[2]*point]*way{}, next: map[*point][]*point{}}
	switch routing {
	case "full", "floyd", "none":
	case "dijkstra", "dijkstracache":
		z.routing = "dijkstra"
	case "cluster", "vivaldi":
		z.spokes = map[*point]spoke{}
	case "wifi":
		return nil, errors.New("its routing is Wifi, which isn't modelled")
	default:
		return nil, fmt.Errorf("its routing is %q, must be Full, Floyd, Dijkstra, DijkstraCache, Cluster, Vivaldi or None", routing)
	}
	switch {
	case r.zone == nil && r.top != nil:
		return nil, errors.New("it is a second zone at the top")
	case r.zone == nil:
		r.top = z
	case len(r.zone.members) > 0 && !r.zone.zones:
		return nil, errMixed
	}
	if r.zone != nil {
		r.zone.zones = true
	}
	p, err := r.newPoint(name, r.zone)
	if err == nil {
		z.self, p.inner = p, z
	}
	return z, err
}

// newPoint adds a host, a router or a zone to a zone; nil holds the one at the top.
func (r *reader) newPoint(name string, z *zone) (*point, error) {
	p := &point{name: name, zone: z}
	switch {
	case name == "":
		return nil, errors.New("its id is missing")
	case r.points[name] != nil:
		return nil, fmt.Errorf("%s is there twice", name)
	case len(r.points) >= 2*maxHosts:
		return nil, fmt.Errorf("there are more than %d hosts, routers and zones", 2*maxHosts)
	case z != nil:
		p.number = len(z.members)
		z.members = append(z.members, p)
	}
	r.points[name] = p
	return p, nil
}

// host adds a host to a zone, with speed, core and pstate.
func (r *reader) host(z *zone, name string, at attributes) (*Host, error) {
	if len(r.hosts) >= maxHosts {
		return nil, fmt.Errorf("there are more than %d hosts", maxHosts)
	}
	states := strings.Split(at["speed"], ",")
	state, err := strconv.ParseFloat(at.or("pstate", "0"), 64)
	if err != nil || !(state >= 0 && state < float64(len(states))) {
		return nil, fmt.Errorf("pstate is %q, must be the number of a speed", at["pstate"])
	}
	h := &Host{Name: name}
	if h.Speed, err = quantity("speed", states[int(state)], speeds); err == nil && h.Speed == 0 {
		err = errors.New("its speed is 0")
	}
	if err != nil {
		return nil, err
	}
	if h.Cores, err = strconv.Atoi(at.or("core", "1")); err != nil || h.Cores < 1 || h.Cores > maxHosts {
		return nil, fmt.Errorf("core is %q, must be a whole number from 1 to %d", at["core"], maxHosts)
	}
	if len(states) > 1 {
		r.told.Add(name, "hosts with several speeds (pstates); they have that of the start")
	}
	if h.point, err = r.place(z, name, at); err == nil {
		r.hosts = append(r.hosts, h)
	}
	return h, err
}

// place adds a host or a router to a zone, with its coordinates.
func (r *reader) place(z *zone, name string, at attributes) (*point, error) {
	if z.zones {
		return nil, errMixed
	}
	p, err := r.newPoint(name, z)
	if err == nil {
		p.position, err = position(at["coordinates"])
	}
	return p, err
}

// newLink adds a link.
func (r *reader) newLink(name string, rate, latencyS float64, fat bool) (*Link, error) {
	switch {
	case name == "":
		return nil, errors.New("its id is missing")
	case r.links[name] != nil:
		return nil, fmt.Errorf("the link %s is there twice", name)
	case rate == 0:
		return nil, fmt.Errorf("the bandwidth of link %s is 0", name)
	}
	l := &Link{name, rate, latencyS, fat}
	r.links[name] = l
	return l, nil
}

// link reads a link, or the backbone of a zone.
func (r *reader) link(name string, at attributes) error {
	var err error
	rate, latencyS := at.in(rates, "bandwidth", "", &err), at.in(times, "latency", "0", &err)
	if err != nil {
		return err
	}
	switch policy := strings.ToUpper(at.or("sharing_policy", "SHARED")); policy {
	case "SHARED", "FATPIPE":
		l, err := r.newLink(at["id"], rate, latencyS, policy == "FATPIPE")
		if name == "backbone" {
			r.zone.backbone = l
		}
		return err
	case "SPLITDUPLEX", "FULLDUPLEX":
		for _, end := range []string{"_UP", "_DOWN"} {
			if _, err := r.newLink(at["id"]+end, rate, latencyS, false); err != nil {
				return err
			}
		}
		return nil
	case "WIFI":
		return errors.New("its sharing policy is WIFI, which isn't modelled")
	default:
		return fmt.Errorf("its sharing policy is %q, must be SHARED, SPLITDUPLEX or FATPIPE", policy)
	}
}

// pass adds a link to the route that is read.
func (r *reader) pass(at attributes) error {
	id := at["id"]
	s := step{r.links[id], r.links[id]}
	switch direction := strings.ToUpper(at.or("direction", "NONE")); direction {
	case "UP":
		s = step{r.links[id+"_UP"], r.links[id+"_DOWN"]}
	case "DOWN":
		s = step{r.links[id+"_DOWN"], r.links[id+"_UP"]}
	case "NONE":
	default:
		return fmt.Errorf("direction is %q, must be UP, DOWN or NONE", direction)
	}
	switch {
	case r.route == nil:
		return errors.New("there is a link_ctn outside a route")
	case s.there == nil:
		return fmt.Errorf("there is no link %s (of the direction %s)", id, at.or("direction", "NONE"))
	case len(r.way) >= maxLinks:
		return fmt.Errorf("a route has more than %d links", maxLinks)
	}
	r.way = append(r.way, s)
	return nil
}

// join ends a route or a bypass.
func (r *reader) join(name string, at attributes) error {
	z, inner, bypass := r.zone, !strings.HasSuffix(name, "oute") || strings.Contains(name, "one") || strings.Contains(name, "AS"), strings.HasPrefix(name, "bypass")
	a, b := r.points[at["src"]], r.points[at["dst"]]
	var gates [2]*point
	there, back := &way{}, &way{}
	for _, s := range r.way {
		there.links, back.links = append(there.links, s.there), append(back.links, s.back)
	}
	slices.Reverse(back.links)
	if inner {
		gates = [2]*point{r.points[at["gw_src"]], r.points[at["gw_dst"]]}
	}
	switch {
	case a == nil || b == nil:
		return errors.New("one of them isn't there")
	case len(there.links) == 0:
		return errors.New("it has no link")
	case inner && (gates[0] == nil || gates[1] == nil || gates[0].inner != nil || gates[1].inner != nil):
		return errors.New("gw_src or gw_dst is no host or router")
	case inner && (a.inner == nil || !a.inner.holds(gates[0]) || b.inner == nil || !b.inner.holds(gates[1])):
		return errors.New("a gateway is outside its zone")
	case bypass && z.bypass[[2]*point{a, b}] != nil:
		return errors.New("it is there twice")
	}
	there.from, there.to, back.from, back.to = gates[0], gates[1], gates[1], gates[0]
	if bypass {
		z.bypass[[2]*point{a, b}] = there
		return nil
	}
	switch {
	case a.zone != z || b.zone != z:
		return errors.New("one of them is outside the zone of the route")
	case (a.inner != nil) != inner || (b.inner != nil) != inner:
		return errors.New("zones need a zoneRoute, hosts and routers a route")
	case a == b && !inner:
		a.loop = there.links
		return nil
	case z.spokes != nil || z.routing == "none":
		return fmt.Errorf("a zone with routing %s has no routes", z.routing)
	}
	if err := z.lay(a, b, there); err != nil || strings.EqualFold(at["symmetrical"], "no") {
		return err
	}
	return z.lay(b, a, back)
}

// lay adds a way between two members.
func (z *zone) lay(a, b *point, x *way) error {
	ends := [2]*point{a, b}
	if z.ways[ends] != nil {
		return errors.New("it is there twice, routes are symmetrical unless they say no")
	}
	z.ways[ends] = x
	for _, p := range ends {
		if !p.laid {
			p.laid = true
			z.order = append(z.order, p)
		}
	}
	z.next[a] = append(z.next[a], b)
	return nil
}

// holds reports whether a point is in the zone or in one of its zones.
func (z *zone) holds(p *point) bool { return p.zone != nil && slices.Contains(p.zone.above(), z) }

// position reads the coordinates of Vivaldi: three numbers, in milliseconds.
func position(text string) (all []float64, err error) {
	for _, field := range strings.Fields(text) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil || !(x > -most && x < most) {
			return nil, fmt.Errorf("coordinates are %q, must be three numbers", text)
		}
		all = append(all, x)
	}
	return all, nil
}

// peer adds a host with a link in and one out.
func (r *reader) peer(at attributes) (err error) {
	if r.zone.routing != "vivaldi" {
		return errors.New("a peer stands in zones with routing Vivaldi")
	}
	up, down := at.in(rates, "bw_out", "", &err), at.in(rates, "bw_in", "", &err)
	return r.joined(at["id"], at, up, down, 0, err)
}

// cabinet adds hosts with two links each to a zone with routing Cluster.
func (r *reader) cabinet(at attributes) (err error) {
	if r.zone.routing != "cluster" {
		return errors.New("a cabinet stands in zones with routing Cluster")
	}
	rate, latencyS := at.in(rates, "bw", "", &err), at.in(times, "lat", "", &err)
	var numbers []int
	if err == nil {
		numbers, err = radical(at["radical"], maxHosts-len(r.hosts))
	}
	for _, k := range numbers {
		err = r.joined(at["prefix"]+strconv.Itoa(k)+at["suffix"], at, rate, rate, latencyS, err)
	}
	return err
}

// joined adds a host with a link up and one down to the middle of its zone, unless there has been an error.
func (r *reader) joined(name string, at attributes, upRate, downRate, latencyS float64, err error) error {
	if err != nil {
		return err
	}
	h, err := r.host(r.zone, name, at)
	if err != nil {
		return err
	}
	up, err := r.newLink("link_"+name+"_UP", upRate, latencyS, false)
	if err != nil {
		return err
	}
	down, err := r.newLink("link_"+name+"_DOWN", downRate, latencyS, false)
	r.zone.spokes[h.point] = spoke{[]*Link{up}, []*Link{down}}
	return err
}
