// SPDX-License-Identifier: MIT

package simgrid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cluster is a tag of this name: hosts with links of one kind, flat or in a topology.
type cluster struct {
	*reader
	at      attributes
	zone    *zone
	id      string
	duplex  bool
	numbers []int // of the names of its hosts
	// The quantities of its attributes.
	rate, latencyS, backRate, backLatencyS, limit, loopRate, loopLatencyS float64
	made                                                                  map[string]*Link
}

// cluster reads a cluster with its hosts.
func (r *reader) cluster(at attributes) (err error) {
	policy := strings.ToUpper(at.or("sharing_policy", "SPLITDUPLEX"))
	c := &cluster{reader: r, at: at, id: at["id"], duplex: policy == "SPLITDUPLEX" || policy == "FULLDUPLEX", made: map[string]*Link{}}
	c.rate, c.backRate = at.in(rates, "bw", "", &err), at.in(rates, "bb_bw", "0", &err)
	c.limit, c.loopRate = at.in(rates, "limiter_link", "0", &err), at.in(rates, "loopback_bw", "0", &err)
	c.latencyS, c.backLatencyS, c.loopLatencyS = at.in(times, "lat", "", &err), at.in(times, "bb_lat", "0", &err), at.in(times, "loopback_lat", "0", &err)
	if err == nil {
		c.numbers, err = radical(at["radical"], maxHosts-len(r.hosts))
	}
	if err != nil {
		return err
	}
	if policy == "FATPIPE" { // SimGrid 3.32 sets it for no link of a cluster
		r.told.Add(c.id, "clusters of sharing policy FATPIPE, which SimGrid takes for SHARED")
	}
	topology := strings.ToUpper(at.or("topology", "FLAT"))
	if c.zone, err = r.newZone(c.id, "cluster"); err != nil {
		return err
	}
	switch topology {
	case "FLAT":
		return c.flat()
	case "TORUS":
		return c.torus()
	case "FAT_TREE":
		return c.fatTree()
	case "DRAGONFLY":
		return c.dragonfly()
	}
	return fmt.Errorf("topology is %q, must be FLAT, TORUS, FAT_TREE or DRAGONFLY", topology)
}

// fill makes the first hosts of the cluster, as many as the product of the sizes.
func (c *cluster) fill(sizes ...int) error {
	n := 1
	for _, x := range sizes {
		if n *= x; n > len(c.numbers) {
			return fmt.Errorf("radical has %d numbers, the topology needs more", len(c.numbers))
		}
	}
	for _, k := range c.numbers[:n] {
		h, err := c.host(c.zone, c.at["prefix"]+strconv.Itoa(k)+c.at["suffix"], c.at)
		if err != nil {
			return err
		}
		if c.loopRate > 0 || c.loopLatencyS > 0 {
			l, err := c.newLink(fmt.Sprintf("%s_link_%d_loopback", c.id, k), c.loopRate, c.loopLatencyS, true)
			if err != nil {
				return err
			}
			h.point.loop = []*Link{l}
		}
	}
	return nil
}

// pair returns the links of this name, up and down, or one for both. It is made when it is first asked for, n times as
// wide as the cluster's.
func (c *cluster) pair(n int, format string, args ...any) (up, down *Link) {
	name := c.id + fmt.Sprintf(format, args...)
	get := func(name string) *Link {
		if c.made[name] == nil {
			c.made[name] = &Link{Name: name, Rate: c.rate * float64(n), LatencyS: c.latencyS}
		}
		return c.made[name]
	}
	if !c.duplex {
		return get(name), c.made[name]
	}
	return get(name + "_UP"), get(name + "_DOWN")
}

// limiter returns the link that all data through a node or switch pass; none if the cluster has no such.
func (c *cluster) limiter(format string, args ...any) []*Link {
	if c.limit == 0 {
		return nil
	}
	name := c.id + fmt.Sprintf(format, args...) + "_limiter"
	if c.made[name] == nil {
		c.made[name] = &Link{Name: name, Rate: c.limit}
	}
	return []*Link{c.made[name]}
}

// flat joins the hosts in the middle: each by its limiter and its link, and all by the backbone.
func (c *cluster) flat() (err error) {
	z := c.zone
	if c.backRate > 0 || c.backLatencyS > 0 {
		z.backbone, err = c.newLink(c.id+"_backbone", c.backRate, c.backLatencyS, strings.EqualFold(c.at["bb_sharing_policy"], "FATPIPE"))
	}
	if err == nil {
		err = c.fill(len(c.numbers))
	}
	z.spokes = map[*point]spoke{}
	for k, p := range z.members {
		up, down := c.pair(1, "_link_%d", c.numbers[k])
		limit := c.limiter("_link_%d", c.numbers[k])
		z.spokes[p] = spoke{append(slices.Clone(limit), up), append([]*Link{down}, limit...)}
	}
	if err == nil {
		_, err = c.newPoint(c.at.or("router_id", c.at["prefix"]+c.id+"_router"+c.at["suffix"]), z)
	}
	return err
}

// torus routes through one dimension after another, the shorter way round as SimGrid counts it.
func (c *cluster) torus() error {
	sizes, err := counts("topo_parameters", c.at["topo_parameters"], maxHosts)
	if err != nil {
		return err
	}
	c.zone.links = func(a, b int) (route []*Link) {
		step := 1
		for d, n := range sizes {
			from, to := a/step%n, b/step%n
			right := to > from && to <= from+n/2 || from > n/2 && (from+n/2)%n >= to
			for at := from; at != to; {
				node, next := a+(at-from)*step, (at+1)%n
				if !right {
					next = (at + n - 1) % n
				}
				beside := a + (next-from)*step
				route = append(route, c.limiter("_link_%d", node)...)
				if up, _ := c.pair(1, "_link_%d_%d", node, d); right {
					route = append(route, up)
				} else {
					_, down := c.pair(1, "_link_%d_%d", beside, d)
					route = append(route, down)
				}
				at = next
			}
			a += (to - from) * step
			step *= n
		}
		return append(route, c.limiter("_link_%d", b)...)
	}
	return c.fill(sizes...)
}

// fatTree routes up to the first switch above both hosts, by the receiver's number as D-mod-k, and down by the cable that
// the sender's number chooses. Switches and hosts have a label, a digit for each level.
func (c *cluster) fatTree() error {
	parts := strings.Split(c.at["topo_parameters"], ";")
	if len(parts) != 4 {
		return fmt.Errorf("topo_parameters is %q, must have four parts with semicolons between", c.at["topo_parameters"])
	}
	var of [4][]int
	for k := range parts {
		var err error
		if of[k], err = counts("topo_parameters", parts[k], maxHosts); err != nil {
			return err
		}
	}
	levels, children, parents, cables := of[0][0], of[1], of[2], of[3]
	const maxLevels = 20
	for _, x := range of[1:] {
		if len(x) != levels || len(of[0]) > 1 || levels > maxLevels {
			return fmt.Errorf("topo_parameters is %q, must be a number of levels up to %d, and as many numbers in each part", c.at["topo_parameters"], maxLevels)
		}
	}
	first := c.leaves // SimGrid counts the hosts of all fat trees on
	label := func(host int) []int {
		all := make([]int, levels)
		for l, n := range children {
			all[l], host = host%n, host/n
		}
		return all
	}
	c.zone.links = func(a, b int) (route []*Link) {
		at, to, level := label(a), label(b), 0
		up := func(lower []int, digit, cable int) (up, down *Link) {
			return c.pair(1, "_link_%d_%v_%d_%d", level, lower, digit, cable)
		}
		for !slices.Equal(at[level:], to[level:]) || level == 0 {
			d := first + b
			for _, n := range parents[:level] {
				d /= n
			}
			d %= parents[level] * cables[level]
			route = append(route, c.limiter("_node_%d_%v", level, at)...)
			link, _ := up(at, d%parents[level], d/parents[level])
			route = append(route, link)
			at[level] = d % parents[level]
			level++
		}
		for level > 0 {
			n := children[level-1]
			for k := (first + a) % cables[level-1] * n; level > 0 && k < children[level-1]*cables[level-1]; k++ {
				if n = children[level-1]; k%n != to[level-1] {
					continue
				}
				limit, digit := c.limiter("_node_%d_%v", level, at), at[level-1]
				level--
				at[level] = to[level]
				_, link := up(at, digit, k/n)
				route = append(append(route, link), limit...)
			}
		}
		return append(route, c.limiter("_node_%d_%v", 0, to)...)
	}
	err := c.fill(children...)
	c.leaves += len(c.zone.members)
	return err
}

// dragonfly routes by the fewest hops: to the blade with the link to the other group, there, to the blade, to the chassis.
func (c *cluster) dragonfly() error {
	bad := fmt.Errorf("topo_parameters is %q, must be groups,links;chassis,links;blades,links;nodes, with at most as many groups as blades", c.at["topo_parameters"])
	var of [4][]int
	parts := strings.Split(c.at["topo_parameters"], ";")
	for k := range parts {
		all, err := counts("topo_parameters", parts[k], maxHosts)
		if err != nil {
			return err
		}
		if len(parts) != 4 || len(all) != 2 && k < 3 || k == 3 && len(all) != 1 {
			return bad
		}
		of[k] = all
	}
	groups, chassis, blades, nodes := of[0], of[1], of[2], of[3][0]
	if groups[0] > blades[0] { // the link to group n is at blade n
		return bad
	}
	type router struct{ group, chassis, blade int }
	c.zone.links = func(a, b int) (route []*Link) {
		place := func(host int) router {
			k := host / nodes
			return router{k / blades[0] / chassis[0], k / blades[0] % chassis[0], k % blades[0]}
		}
		limit := func(r router) { route = append(route, c.limiter("_router_%d_%d_%d", r.group, r.chassis, r.blade)...) }
		// hop adds the link between x and y of a kind, of which the lower one is at the upper end.
		hop := func(n int, kind string, x, y int, where ...int) {
			up, down := c.pair(n, "_%s_%v_%d_%d", kind, where, min(x, y), max(x, y))
			if x > y {
				up = down
			}
			route = append(route, up)
		}
		at, to := place(a), place(b)
		local := func(host int) (up, down *Link) { return c.pair(1, "_local_%d", host) }
		route = append(route, c.limiter("_link_%d", a)...)
		up, _ := local(a)
		route = append(route, up)
		if at != to && at.group != to.group {
			if at.blade != to.group {
				limit(at)
				hop(blades[1], "green", at.blade, to.group, at.group, at.chassis)
				at.blade = to.group
			}
			if at.chassis != 0 {
				limit(at)
				hop(chassis[1], "black", at.chassis, 0, at.group, at.blade)
				at.chassis = 0
			}
			hop(groups[1], "blue", at.group, to.group)
			limit(at)
			at = router{to.group, 0, at.group}
		}
		if at.blade != to.blade {
			limit(at)
			hop(blades[1], "green", at.blade, to.blade, at.group, at.chassis)
			at = router{to.group, 0, to.blade} // as in SimGrid, whatever the chassis was
		}
		if at.chassis != to.chassis {
			limit(at)
			hop(chassis[1], "black", at.chassis, to.chassis, at.group, at.blade)
		}
		limit(to)
		_, down := local(b)
		return append(append(route, down), c.limiter("_link_%d", b)...)
	}
	return c.fill(groups[0], chassis[0], blades[0], nodes)
}
