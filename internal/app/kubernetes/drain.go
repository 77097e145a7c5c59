// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/text/words"
)

// ErrRefused is the error of an eviction that the cluster refuses now, by a budget.
var ErrRefused = errors.New("the eviction is refused")

// ErrGone is the error of an eviction of a pod that isn't there.
var ErrGone = errors.New("the pod is gone")

// ErrUnmarked is the error of a cordon that is made, but that a later run can't know for gapwise's.
var ErrUnmarked = errors.New("cordoned without a mark")

// ErrLaunch is the error of a drain with a plan that buys nodes: no eviction launches them.
var ErrLaunch = errors.New("the plan needs nodes that a drain can't launch")

// Mark is the annotation of nodes that a drain or a script has cordoned. Its value tells which one, and when.
const Mark = "gapwise.dev/cordoned-by"

// Control is a drain's access to a cluster.
type Control interface {
	Read(ctx context.Context) (*Cluster, error)
	// Cordon lets no new pods on some nodes and gives them the Mark, both at once; with on false it undoes both. Nodes that
	// are gone are open. The error is ErrUnmarked if all is done but for marks.
	Cordon(ctx context.Context, on bool, nodes ...string) error
	// Evict asks for the eviction of a pod. The error is ErrRefused if a budget doesn't allow it, ErrGone if there is no
	// such pod any more.
	Evict(ctx context.Context, pod *corev1.Pod) error
	// Lease gets, creates, replaces or deletes the lease of drains, by this verb of kubectl; l becomes what the cluster
	// has. What isn't as it was read, or is there already, is ErrTaken; what isn't there is ErrGone.
	Lease(ctx context.Context, verb string, l *coordinationv1.Lease) error
}

// DrainOptions configure how a plan is carried out.
type DrainOptions struct {
	Options Options
	Solve   gapwise.Options
	By      string // who drains, as the lock tells others
	// Allow names Harms, and workloads, that don't stop it.
	Allow []string
	// Patience is how long successors may take to run once the evicted pods are gone, and a budget to allow an eviction.
	// Poll is how often is asked.
	Patience, Poll time.Duration
	// Steps bounds the steps, but for the steps of the plan that is being carried out; 0: a thousand.
	Steps int
	// Log receives each step in a line.
	Log func(format string, args ...any)
}

// Drained is the result of a drain.
type Drained struct {
	Before, After State // After is read at the end, also after a failure
	Planned       int64 // moves of the first plan
	Plans, Steps  int
	Evicted       int
	Refused       int      // pods whose eviction a budget refused, counted once in each step
	Empty         []string // nodes without pods that count, which stay cordoned: they can be given back
	Idle          []string // such nodes that it leaves as they are: open, or cordoned by others
	Closed        []string // nodes in use that stay cordoned, with the reason
	Joined        []string // nodes that weren't there at the start
	Opened        []string // nodes that it had cordoned and others have opened
	Stayed        []string // workloads that weren't evicted from a node again, with the reason

	BrokenBefore, BrokenAfter planstate.Broken // rules and the like, read as Before and After are
}

// Drain carries out plans, step by step. The nodes that a plan empties, and those that are empty, are cordoned first, so that
// no more nodes are in use than before. Evicted pods' successors go where the scheduler likes. So each step cordons the
// nodes that it would prefer, by the simulation of its choice, until the successors are ready. No other pods are waited
// for. With Mend a plan mends, and all nodes that it has cordoned are opened at the end. If then all is as it was simulated, the next step follows. Otherwise the cluster is planned again. Workloads that
// came back to a node stay there. It ends when no move saves anything, or nothing has become cheaper in four plans. If
// successors find no node in time, cordoned nodes are opened for them. Nodes with the Mark are taken over from earlier
// runs. Nodes that join are kept. If ctx ends, or something fails, the nodes that it has cordoned are opened again;
// otherwise only the ones that hold pods are. A plan that may harm running pods isn't carried out: ErrHarm. Nor is any
// while another drain runs: ErrTaken, and the result is nil.
func Drain(ctx context.Context, k Control, o DrainOptions) (*Drained, error) {
	ctx, unlock, err := hold(ctx, k, o.By, o.Log)
	if err != nil {
		return nil, err
	}
	defer unlock()
	d := &drain{Control: k, DrainOptions: o, cordoned: map[string]bool{}, taken: map[string]bool{}, stays: map[[2]string]string{}}
	if d.Steps == 0 {
		d.Steps = 1000
	}
	err = d.run(ctx)
	if lost := context.Cause(ctx); errors.Is(lost, errLost) {
		return &d.result, fmt.Errorf("the drain was stopped (%w); its nodes are cordoned still: the next drain takes them over, "+
			"gapwise kubernetes drain --undo opens them", lost)
	}
	if ctx.Err() != nil { // in the midst of a command, maybe: its own error is of no use
		err = fmt.Errorf("the drain was stopped (%w)", ctx.Err())
	}
	after := d.end(context.WithoutCancel(ctx), err)
	switch {
	case after != nil && err != nil:
		err = fmt.Errorf("%w; nodes that it had cordoned may be so still, gapwise kubernetes drain --undo opens them: %w", err, after)
	case ctx.Err() != nil:
		err = fmt.Errorf("%w, and the nodes that it had cordoned are open", err)
	}
	return &d.result, cmp.Or(err, after)
}

// Undo opens all nodes with the Mark and returns them, unless a drain runs: ErrTaken.
func Undo(ctx context.Context, k Control, by string, log func(format string, args ...any)) ([]string, error) {
	ctx, unlock, err := hold(ctx, k, by, log)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, err := k.Read(ctx)
	if err != nil {
		return nil, err
	}
	var nodes []string
	for n := range c.Nodes {
		if _, marked := c.Nodes[n].Annotations[Mark]; marked {
			nodes = append(nodes, c.Nodes[n].Name)
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	return nodes, k.Cordon(ctx, false, nodes...)
}

type drain struct {
	Control
	DrainOptions
	cordoned map[string]bool      // by this drain, or taken over
	taken    map[string]bool      // taken over and untouched since
	stale    []string             // open nodes with the Mark, which others have opened
	foreign  map[string]bool      // nodes that others have cordoned, or opened since: they stay so
	unsure   bool                 // whether the last cordons were made
	known    map[string]bool      // nodes that were there at the start
	there    map[string]bool      // nodes that were there when the cluster was read last
	stays    map[[2]string]string // why the pods of a controller aren't evicted from a node again
	begun    bool                 // it has changed the cluster
	result   Drained
}

// list returns the nodes that are cordoned, in order.
func (d *drain) list() (all []string) {
	for node, on := range d.cordoned {
		if on {
			all = append(all, node)
		}
	}
	slices.Sort(all)
	return all
}

// read reads the cluster; nodes that this drain has cordoned count as open. The first time it takes over the nodes with
// the Mark, later it notes the nodes that have joined or that others have opened, and forgets those that are gone.
func (d *drain) read(ctx context.Context) (*Cluster, error) {
	c, err := d.Read(ctx)
	if err != nil {
		return nil, err
	}
	first := d.known == nil
	d.there, d.foreign = map[string]bool{}, map[string]bool{}
	for k := range c.Nodes {
		n := &c.Nodes[k]
		d.there[n.Name] = true
		switch by, marked := n.Annotations[Mark]; {
		case !first || !marked:
		case n.Spec.Unschedulable:
			d.cordoned[n.Name], d.taken[n.Name] = true, true
			d.Log("take over %s, cordoned by %s", n.Name, by)
		default:
			d.stale = append(d.stale, n.Name)
		}
		if !first && !d.known[n.Name] && !slices.Contains(d.result.Joined, n.Name) {
			d.result.Joined = append(d.result.Joined, n.Name)
			d.Log("joined: %s, which is kept", n.Name)
		}
		if d.cordoned[n.Name] && !n.Spec.Unschedulable && !d.unsure {
			delete(d.cordoned, n.Name)
			d.stale, d.result.Opened = append(d.stale, n.Name), append(d.result.Opened, n.Name)
			d.Log("opened by others: %s, which is kept", n.Name)
		}
		d.foreign[n.Name] = n.Spec.Unschedulable && !d.cordoned[n.Name] || slices.Contains(d.result.Opened, n.Name)
		if d.cordoned[n.Name] {
			open(n)
		}
	}
	if first {
		d.known = d.there
	}
	maps.DeleteFunc(d.cordoned, func(node string, _ bool) bool { return !d.there[node] })
	return c, nil
}

// plan reads the cluster and plans.
func (d *drain) plan(ctx context.Context) (*Instance, *Plan, error) {
	c, err := d.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	in, err := Convert(c, d.reading(c))
	if err != nil {
		return nil, nil, err
	}
	if d.Options.Survivors == nil { // what survived at the start survives at the end, also if it doesn't on the way
		d.Options.Survivors, d.Options.Held = in.Survivors, in.Held
	}
	p, err := MakePlan(ctx, in, d.Solve)
	return in, p, err
}

// reading returns the options by which a cluster is read: nodes that have joined, or that others have opened, are kept,
// and pods that aren't to be evicted again stay.
func (d *drain) reading(c *Cluster) Options {
	o := d.Options
	o.Stays, o.SameStep = d.stays, o.SameStep || slices.Contains(d.Allow, harmStep)
	o.Keep = slices.Clone(o.Keep)
	for k := range c.Nodes {
		if node := c.Nodes[k].Name; slices.Contains(d.result.Joined, node) || slices.Contains(d.result.Opened, node) {
			o.Keep = append(o.Keep, node)
		}
	}
	return o
}

// open turns a cordoned node into one that isn't, as it is read.
func open(n *corev1.Node) {
	n.Spec.Unschedulable = false
	n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
}

func (d *drain) run(ctx context.Context) error {
	cheapest, since, kept := int64(-1), 0, 0
	for ; ; d.result.Plans++ {
		in, p, err := d.plan(ctx)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if d.result.Plans == 0 {
			d.result.Before, d.result.Planned, d.result.BrokenBefore = p.Now, p.Moves, p.Broken.Now
		}
		d.result.After, d.result.BrokenAfter = p.Now, p.Broken.Now
		now, then := d.figure(p)
		if n := len(d.result.Joined) + len(d.result.Opened); n > kept { // so that they cost
			kept, cheapest = n, -1
		}
		if cheapest < 0 || now < cheapest {
			cheapest, since = now, 0
		} else {
			since++
		}
		d.unmade(p)
		if now <= then || len(p.Steps) == 0 || since > 4 || d.result.Steps >= d.Steps {
			return d.finish(ctx, in, p)
		}
		if len(p.Launch) > 0 {
			return fmt.Errorf("%w: launch %s by your cloud or node pool, then drain again; Karpenter launches nodes by itself only for pods that wait", ErrLaunch, launchText(p.Launch))
		}
		if err := in.harm(p, d.Allow, d.begun); err != nil {
			return err
		}
		d.Log("plan %d: %s in use, %d could do, %s to move in %s", d.result.Plans+1, words.Plural(p.Now.Nodes, "node"), p.Then.Nodes,
			words.Plural(int(p.Moves), "pod"), words.Plural(len(p.Steps), "step"))
		if err := d.begin(ctx); err != nil {
			return err
		}
		if err := d.carryOut(ctx, in, p); err != nil {
			return err
		}
	}
}

// begin takes the Mark from nodes that others have opened: if they cordon one, it is theirs.
func (d *drain) begin(ctx context.Context) error {
	if d.begun = true; len(d.stale) == 0 {
		return nil
	}
	stale := d.stale
	d.stale = nil
	return d.Cordon(ctx, false, stale...)
}

// finish cordons the nodes that are empty, but for those that waiting pods are planned for, and no others.
func (d *drain) finish(ctx context.Context, in *Instance, p *Plan) error {
	c := view.OfConsolidation(in.Consolidation, 0)
	want := map[string]bool{}
	for h, idle := range in.unused(c, c.Today()) {
		if node := in.Hosts[h].ID; idle && (!d.Options.Mend || d.taken[node]) { // to mend gives no nodes back
			want[node] = true
		}
	}
	for _, step := range p.Steps {
		for _, m := range step.Moves {
			if m.From == "" {
				delete(want, m.To)
			}
		}
	}
	if err := p.named(); err != nil {
		return err
	}
	if err := d.begin(ctx); err != nil {
		return err
	}
	if err := d.cordon(ctx, want); err != nil {
		return err
	}
	if now, then := d.figure(p); d.Options.Mend {
		d.Log("done: %d broken still that moves could mend", max(0, now-then))
		return nil
	}
	d.Log("done: %s in use, %d could be saved still", words.Plural(p.Now.Nodes, "node"), max(0, p.Now.Nodes-p.Then.Nodes))
	return nil
}

// end opens the nodes that are in use, after a failure all that this drain has cordoned, and reads the figures. Before
// anything was begun it leaves what an earlier run has cordoned as it is.
func (d *drain) end(ctx context.Context, failed error) error {
	c, err := d.read(ctx)
	var in *Instance
	if err == nil {
		in, err = Convert(c, d.reading(c))
	}
	if err != nil { // what is in use isn't known
		if d.begun && len(d.list()) > 0 {
			return errors.Join(err, d.cordon(ctx, nil))
		}
		return nil
	}
	today := view.OfConsolidation(in.Consolidation, 0)
	idle := map[string]bool{}
	empty := in.empty()
	for _, h := range empty {
		idle[in.Hosts[h].ID] = true
	}
	stay := map[string]bool{}
	for _, node := range d.list() {
		stay[node] = idle[node] && (failed == nil && !d.Options.Mend || d.taken[node]) || !d.begun
	}
	if err = d.cordon(ctx, stay); err == nil && d.begun {
		err = d.begin(ctx) // nodes that others have opened have the Mark still
	}
	d.result.After, d.result.BrokenAfter = in.state(today, today.Today()), in.broken(today, today.Today())
	for _, h := range empty {
		if node := in.Hosts[h].ID; d.cordoned[node] {
			d.result.Empty = append(d.result.Empty, node)
		} else {
			d.result.Idle = append(d.result.Idle, node)
		}
	}
	for h := range today.Existing {
		switch node := in.Hosts[h].ID; {
		case idle[node], in.Hosts[h].Closed:
		case d.cordoned[node]:
			d.result.Closed = append(d.result.Closed, node+" (by an earlier run; gapwise kubernetes drain --undo opens it)")
		case in.Cordoned[node]:
			d.result.Closed = append(d.result.Closed, node+" (by others)")
		}
	}
	for _, x := range slices.SortedFunc(maps.Keys(d.stays), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		d.result.Stayed = append(d.result.Stayed, fmt.Sprintf("%s on %s (%s)", x[0], x[1], d.stays[x]))
	}
	return err
}

// carryOut goes through the steps of a plan, as long as all happens as it was simulated.
func (d *drain) carryOut(ctx context.Context, in *Instance, p *Plan) error {
	fence := map[string]bool{}
	for _, node := range p.fence {
		fence[node] = true
	}
	e := expectations(in.Cluster)
	for k := range p.Steps {
		want := maps.Clone(fence)
		for _, h := range p.Steps[k].Closed {
			want[h] = true
		}
		if err := d.cordon(ctx, want); err != nil {
			return err
		}
		d.result.Steps++
		s := &step{drain: d, in: in, e: e, fence: fence, known: e.node, budgets: map[int]bool{}}
		now, err := s.run(ctx, p.Steps[k].Moves)
		if err != nil {
			return err
		}
		if !e.met {
			d.Log("not as simulated")
			break
		}
		e.node = now.node
	}
	return d.cordon(ctx, fence)
}

// cordon cordons some nodes, but for those that others have cordoned or opened, and opens all others that this drain has
// cordoned.
func (d *drain) cordon(ctx context.Context, want map[string]bool) error {
	for _, on := range []bool{false, true} {
		var nodes []string
		for _, some := range []map[string]bool{want, d.cordoned} {
			for node := range some {
				if want[node] == on && d.cordoned[node] != on && d.there[node] && !(on && d.foreign[node]) {
					nodes = append(nodes, node)
				}
			}
		}
		if slices.Sort(nodes); len(nodes) == 0 {
			continue
		}
		nodes = slices.Compact(nodes)
		for _, node := range nodes { // also if it fails: some may be done
			d.cordoned[node] = on || d.cordoned[node]
			delete(d.taken, node)
		}
		d.unsure = true
		err := d.Cordon(ctx, on, nodes...)
		if err != nil && !errors.Is(err, ErrUnmarked) {
			return err
		}
		d.unsure = false
		for _, node := range nodes {
			d.cordoned[node] = on
		}
		d.Log("%s %s", map[bool]string{true: "cordon", false: "uncordon"}[on], strings.Join(nodes, " "))
		if err != nil {
			d.Log("%v", err)
		}
	}
	return nil
}

// expected is how many pods of each controller each node should have.
type expected struct {
	on   map[[2]string]int // controller, node
	pods map[string]string // controller of each pod by namespace/name
	node map[string]string // of each pod
	met  bool
}

func expectations(c *Cluster) *expected {
	e := &expected{on: map[[2]string]int{}, pods: map[string]string{}, node: map[string]string{}}
	for k := range c.Pods {
		p := &c.Pods[k]
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil {
			continue
		}
		key := controller(p)
		e.on[[2]string{key, p.Spec.NodeName}]++
		e.pods[p.Namespace+"/"+p.Name], e.node[p.Namespace+"/"+p.Name] = key, p.Spec.NodeName
	}
	return e
}

// move notes that a pod moves.
func (e *expected) move(m Move) {
	key := e.pods[m.Pod]
	if e.on[[2]string{key, m.From}]--; e.on[[2]string{key, m.From}] == 0 {
		delete(e.on, [2]string{key, m.From})
	}
	e.on[[2]string{key, m.To}]++
}

// empty returns the nodes without pods that count today, by their numbers.
func (in *Instance) empty() (all []int) {
	used := map[string]bool{}
	for i := range in.Jobs {
		for _, h := range in.Jobs[i].CurrentHosts {
			used[h] = true
		}
	}
	for k := range in.Hosts {
		if h := &in.Hosts[k]; !used[h.ID] && !h.Kept && !h.Closed {
			all = append(all, k)
		}
	}
	return all
}

// step is a part of a plan that is being carried out.
type step struct {
	*drain
	in      *Instance
	e       *expected
	fence   map[string]bool
	known   map[string]string // pods that aren't successors of this step's, by namespace/name
	budgets map[int]bool      // of the pods that it evicts
	evicted []evicted
	last    time.Time // when the last one was
}

// evicted is a pod that has been evicted.
type evicted struct {
	Move
	owner string
	ready bool // before: its successor is to be ready
	grace time.Duration
	gone  bool
}

// run evicts pods and waits until they are gone and their successors are as ready as they were, and the budgets allow as
// much as before. Other pods aren't waited for.
func (s *step) run(ctx context.Context, moves []Move) (*expected, error) {
	pods := map[string]*corev1.Pod{}
	for k := range s.in.Cluster.Pods {
		p := &s.in.Cluster.Pods[k]
		pods[p.Namespace+"/"+p.Name] = p
	}
	all := true
	for _, m := range moves {
		if m.From == "" {
			s.e.move(m)
			continue
		}
		for _, b := range s.in.Budgets[m.Pod] {
			s.budgets[b] = true
		}
		if s.stays[[2]string{s.e.pods[m.Pod], m.From}] != "" { // since an eviction of this step
			all = false
			continue
		}
		p := pods[m.Pod]
		went, err := s.evict(ctx, m, p)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if all = all && went; !went {
			continue
		}
		s.e.move(m)
		x := evicted{Move: m, owner: controller(p), ready: !unready(p) && p.Status.Phase != corev1.PodPending, grace: corev1.DefaultTerminationGracePeriodSeconds * time.Second}
		if grace := p.Spec.TerminationGracePeriodSeconds; grace != nil {
			x.grace = time.Duration(*grace) * time.Second
		}
		s.evicted, s.last = append(s.evicted, x), time.Now()
	}
	now, err := s.await(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range s.evicted {
		if at := [2]string{x.owner, x.From}; now.on[at] > s.e.on[at] {
			s.stay(x.Move, x.owner, "it came back")
		}
	}
	s.e.met = all && maps.Equal(s.e.on, now.on)
	return now, nil
}

// stay has the pods of a controller stay on a node in later plans.
func (s *step) stay(m Move, owner, why string) {
	if at := [2]string{owner, m.From}; s.stays[at] == "" {
		s.stays[at] = why
		s.Log("stays: %s on %s, %s", owner, m.From, why)
	}
}

// evict evicts a pod, and reports whether it did. What a budget refuses is tried again until the patience has passed. Then
// the pod stays.
func (s *step) evict(ctx context.Context, m Move, p *corev1.Pod) (bool, error) {
	deadline, said := time.Now().Add(s.Patience), ""
	for {
		err := s.Evict(ctx, p)
		switch {
		case err == nil:
			s.result.Evicted++
			s.Log("evict %s from %s", m.Pod, m.From)
			return true, nil
		case errors.Is(err, ErrGone):
			s.Log("gone: %s", m.Pod)
			return false, nil
		case !errors.Is(err, ErrRefused):
			return false, err
		}
		if said == "" {
			s.result.Refused++
		}
		if text := err.Error(); text != said {
			s.Log("refused, to be tried again for %v: %s: %s", s.Patience, m.Pod, text)
			said = text
		}
		if !time.Now().Before(deadline) {
			s.stay(m, s.e.pods[m.Pod], "its eviction was refused for "+s.Patience.String())
			return false, nil
		}
		if err := s.pause(ctx); err != nil {
			return false, err
		}
		if _, err := s.read(ctx); err != nil {
			return false, err
		}
	}
}

// pause waits until it is time to ask again.
func (d *drain) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d.Poll):
		return nil
	}
}

// await waits for the successors of what was evicted. The patience begins when all of that is gone, but no later than
// after their longest grace period.
func (s *step) await(ctx context.Context) (*expected, error) {
	deadline, longest := time.Now().Add(s.Patience), time.Duration(0)
	for _, x := range s.evicted {
		longest = max(longest, x.grace)
	}
	for {
		c, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		if s.leaving(c) {
			if deadline = time.Now().Add(s.Patience); time.Now().After(s.last.Add(longest + s.Patience)) {
				s.leave()
			}
		}
		late := !time.Now().Before(deadline)
		missing, unready, coming := s.successors(c)
		switch {
		case s.leaving(c):
		case !coming && len(missing)+len(unready) == 0 && (late || c.allows(s.in.Cluster, s.budgets)):
			return expectations(c), nil
		case late && len(missing) > 0:
			if !s.relieve(ctx, missing) {
				return nil, fmt.Errorf("%w: after %v these wait for a node, and no node is cordoned for the drain: %s", errSuccessors, s.Patience, list(names(missing)))
			}
			deadline = time.Now().Add(s.Patience)
		case late && len(unready) > 0:
			return nil, fmt.Errorf("%w: after %v these aren't ready, where the pods before them were: %s", errSuccessors, s.Patience, list(names(unready)))
		case late: // their controllers make no successors
			return expectations(c), nil
		}
		if err := s.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// errSuccessors is the error of a drain whose evicted pods have no successors that run.
var errSuccessors = errors.New("successors of evicted pods don't run")

// leaving reports whether evicted pods are there still, and notes those that are gone. An eviction that is accepted
// deletes the pod, or says when it will be: one of that name without this is another one.
func (s *step) leaving(c *Cluster) bool {
	deleted := map[string]bool{}
	for k := range c.Pods {
		if p := &c.Pods[k]; p.DeletionTimestamp != nil {
			deleted[p.Namespace+"/"+p.Name] = true
		}
	}
	there := false
	for k := range s.evicted {
		x := &s.evicted[k]
		x.gone = x.gone || !deleted[x.Pod]
		there = there || !x.gone
	}
	return there
}

// leave gives evicted pods up that don't end: their controllers may wait for that with a successor.
func (s *step) leave() {
	s.evicted = slices.DeleteFunc(s.evicted, func(x evicted) bool {
		if !x.gone {
			s.stay(x.Move, x.owner, "it doesn't end")
		}
		return !x.gone
	})
}

// successor is a new pod of a controller whose pods were evicted.
type successor struct {
	pod, owner string
}

func names(all []successor) (names []string) {
	for _, x := range all {
		names = append(names, x.pod)
	}
	return names
}

// successors returns the successors that wait for a node, and those that aren't ready, where the evicted pods were. It
// also reports whether some are still to be made. New pods of a controller beyond what was evicted aren't the drain's.
func (s *step) successors(c *Cluster) (missing, late []successor, coming bool) {
	type count struct{ node, ready int }
	need, again := map[string]count{}, map[string]bool{}
	for _, x := range s.evicted {
		n := need[x.owner]
		if n.node++; x.ready {
			n.ready++
		}
		need[x.owner], again[x.Pod] = n, true
	}
	waiting, starting := map[string][]successor{}, map[string][]successor{}
	for k := range c.Pods {
		p := &c.Pods[k]
		x := successor{p.Namespace + "/" + p.Name, controller(p)}
		n, ours := need[x.owner]
		_, known := s.known[x.pod]
		if !ours || known && !again[x.pod] || p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed {
			continue
		}
		switch {
		case p.Spec.NodeName == "":
			waiting[x.owner] = append(waiting[x.owner], x)
			continue
		case unready(p) || p.Status.Phase == corev1.PodPending:
			starting[x.owner] = append(starting[x.owner], x)
			n.node--
		default:
			n.node--
			n.ready--
		}
		need[x.owner] = n
	}
	for _, owner := range slices.Sorted(maps.Keys(need)) {
		n := need[owner]
		some := min(max(0, n.node), len(waiting[owner]))
		missing = append(missing, waiting[owner][:some]...)
		if n.ready > some {
			late = append(late, starting[owner][:min(n.ready-some, len(starting[owner]))]...)
		}
		coming = coming || n.node > some
	}
	return missing, late, coming
}

// relieve opens cordoned nodes for successors that wait for one, and reports whether there were any: first all of those
// in use, then the nodes from which pods of their controllers were evicted, then one after another.
func (s *step) relieve(ctx context.Context, missing []successor) bool {
	all := s.list()
	some := slices.DeleteFunc(slices.Clone(all), func(node string) bool { return s.fence[node] })
	for _, x := range s.evicted {
		ours := slices.ContainsFunc(missing, func(y successor) bool { return x.owner == y.owner })
		if len(some) == 0 && ours && s.cordoned[x.From] {
			some = []string{x.From}
		}
	}
	if len(some) == 0 && len(all) > 0 {
		some = all[:1]
	}
	if len(some) == 0 {
		return false
	}
	s.Log("wait for a node: %s", list(names(missing)))
	want := maps.Clone(s.cordoned)
	for _, node := range some {
		want[node] = false
	}
	return s.cordon(ctx, want) == nil
}

// allows reports whether some budgets allow as many evictions as they did.
func (c *Cluster) allows(then *Cluster, budgets map[int]bool) bool {
	for k := range budgets {
		b := &then.Budgets[k]
		for n := range c.Budgets {
			if x := &c.Budgets[n]; x.Namespace == b.Namespace && x.Name == b.Name && x.Status.DisruptionsAllowed < b.Status.DisruptionsAllowed {
				return false
			}
		}
	}
	return true
}

// unready reports whether a pod is being deleted, or has a node and reports that it isn't ready.
func unready(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil || p.Spec.NodeName != "" && p.Status.Phase != corev1.PodSucceeded &&
		slices.ContainsFunc(p.Status.Conditions, func(x corev1.PodCondition) bool {
			return x.Type == corev1.PodReady && x.Status != corev1.ConditionTrue
		})
}
