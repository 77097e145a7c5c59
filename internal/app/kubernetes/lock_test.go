// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// racer is one of several drains of a cluster. Each of its calls takes a while.
type racer struct {
	*played
	all   *race
	name  string
	dies  int // after so many calls nothing is done any more, as after a kill; 0: never
	calls int
	ended bool
}

// race is what racers share.
type race struct {
	mu    sync.Mutex
	rng   *rand.Rand
	wrote []entry // what changed the cluster, or its lease
}

type entry struct {
	name, verb string
	at         time.Time
}

// call does one thing of a racer's, after a while.
func (r *racer) call(verb string, do func() error) error {
	r.all.mu.Lock()
	wait := time.Duration(r.all.rng.IntN(1500)) * time.Millisecond
	r.all.mu.Unlock()
	time.Sleep(wait)
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.calls++; r.dies > 0 && r.calls > r.dies {
		r.ended = true
		return errKilled
	}
	err := do()
	if err == nil && verb != "get" {
		r.all.wrote = append(r.all.wrote, entry{r.name, verb, time.Now()})
	}
	return err
}

func (r *racer) Read(ctx context.Context) (c *kubernetes.Cluster, err error) {
	return c, r.call("get", func() error { c, err = r.played.Read(ctx); return err })
}

func (r *racer) Cordon(ctx context.Context, on bool, nodes ...string) error {
	return r.call("cordon", func() error { return r.played.Cordon(ctx, on, nodes...) })
}

func (r *racer) Evict(ctx context.Context, pod *corev1.Pod) error {
	return r.call("evict", func() error { return r.played.Evict(ctx, pod) })
}

func (r *racer) Lease(ctx context.Context, verb string, l *coordinationv1.Lease) error {
	return r.call(verb, func() error { return r.played.Lease(ctx, verb, l) })
}

func (p *played) options(by string, log func(string, ...any)) kubernetes.DrainOptions {
	return kubernetes.DrainOptions{Options: byNode, Allow: []string{"single-replica", "same-step"}, By: by,
		Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Patience: 10 * time.Second, Poll: time.Second, Log: log}
}

func quiet(string, ...any) {}

// Of drains that begin at about the same time one changes the cluster, and the others nothing. If it is killed, another
// one changes it no sooner than the lease ends. Without the lease's version in each write the test fails.
func TestLockRaces(t *testing.T) {
	t.Parallel()
	refused, took, killed := 0, 0, 0
	for seed := range uint64(require.Rounds(200)) {
		synctest.Test(t, func(t *testing.T) {
			all := &race{rng: rand.New(rand.NewPCG(seed, 9))}
			p := &played{t: t, c: three().cluster(t), closed: map[string]bool{}, lost: map[int]int{}, rng: all.rng}
			var racers []*racer
			errs := make([]error, 5)
			var group sync.WaitGroup
			for k := range errs {
				r := &racer{played: p, all: all, name: fmt.Sprint("drain ", k)}
				if k == 0 && seed%2 == 0 { // before any of them runs
					r.dies = 1 + all.rng.IntN(12)
				}
				racers = append(racers, r)
				all.mu.Lock()
				begin := time.Duration(all.rng.IntN(4000)) * time.Millisecond
				all.mu.Unlock()
				group.Go(func() {
					time.Sleep(begin)
					if k == 2 {
						_, errs[k] = kubernetes.Undo(t.Context(), r, r.name, quiet)
					} else {
						_, errs[k] = kubernetes.Drain(t.Context(), r, p.options(r.name, quiet))
					}
				})
			}
			group.Wait()
			var order []string // who has changed the cluster
			holder, since := "", time.Time{}
			for _, x := range all.wrote {
				dead := slices.ContainsFunc(racers, func(r *racer) bool { return r.name == holder && r.ended })
				switch {
				case x.name != holder && holder != "" && (!dead || x.at.Sub(since) < 30*time.Second):
					t.Errorf("seed %d: %s by %s, %v after %s has written the lease", seed, x.verb, x.name, x.at.Sub(since), holder)
				case x.verb == "delete":
					holder = ""
				case x.verb == "create" || x.verb == "replace":
					holder, since = x.name, x.at
				case !slices.Contains(order, x.name):
					order = append(order, x.name)
				}
			}
			for k, r := range racers {
				changed := slices.Contains(order, r.name)
				switch {
				case errors.Is(errs[k], errKilled):
					killed++
				case errors.Is(errs[k], kubernetes.ErrTaken):
					if refused++; changed || !strings.Contains(errs[k].Error(), "drain ") {
						t.Errorf("seed %d: %s: %v, and it has changed the cluster: %v", seed, r.name, errs[k], changed)
					}
				case errs[k] != nil:
					t.Errorf("seed %d: %s: %v", seed, r.name, errs[k])
				case len(order) > 1 && changed:
					took++
				}
			}
			if racers[0].dies == 0 && p.lease != nil {
				t.Errorf("seed %d: the lease stays", seed)
			}
			if t.Failed() {
				t.Log(all.wrote)
			}
		})
	}
	t.Logf("%d refused, %d after another one, %d killed", refused, took, killed)
	if !testing.Short() && min(refused, took, killed) < 10 {
		t.Error("too few of each happen")
	}
}

// leased has the lease answer otherwise.
type leased struct {
	*played
	answer func(verb string, do func() error) error
}

func (l leased) Lease(ctx context.Context, verb string, x *coordinationv1.Lease) error {
	y := x.DeepCopy()
	err := l.answer(verb, func() error { return l.played.Lease(ctx, verb, y) })
	if err == nil {
		*x = *y
	}
	return err
}

// A drain of a minute renews its lease, whatever becomes of it, and ends if it can't, or if it is another's; then it
// leaves its nodes as they are.
func TestLock(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	other := func(p *played) {
		x := "somebody"
		p.leases++
		p.lease = &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &x}}
		p.lease.ResourceVersion = fmt.Sprint(p.leases)
	}
	for name, x := range map[string]struct {
		answer func(p *played, verb string, do func() error) error
		err    string
		log    string
		closed string
		stays  bool // the lease
	}{
		"nothing":      {closed: "n1 n2"},
		"no right":     {answer: func(*played, string, func() error) error { return broken }, closed: "n1 n2", log: "no lock: another drain at the same time isn't noticed (broken)"},
		"no namespace": {answer: func(*played, string, func() error) error { return kubernetes.ErrGone }, err: "the namespace of the lock isn't there: the pod is gone"},
		"deleted": {answer: func(p *played, verb string, do func() error) error {
			if verb == "replace" && p.leases == 2 {
				p.lease = nil
			}
			return do()
		}, closed: "n1 n2"},
		"answers are lost": {answer: func(_ *played, verb string, do func() error) error {
			if err := do(); err != nil || verb != "replace" {
				return err
			}
			return broken
		}, closed: "n1 n2"},
		"no answer for a while": {answer: func(p *played, verb string, do func() error) error {
			if verb == "replace" && p.evicted < 2 {
				return broken
			}
			return do()
		}, closed: "n1 n2"},
		"no answer": {answer: func(_ *played, verb string, do func() error) error {
			if verb == "replace" {
				return broken
			}
			return do()
		}, closed: "n1 n2", stays: true, err: "the drain was stopped (the lock is lost: broken); its nodes are cordoned still: the next drain takes them over, gapwise kubernetes drain --undo opens them"},
		"another's": {answer: func(p *played, verb string, do func() error) error {
			if verb == "replace" {
				other(p)
			}
			return do()
		}, closed: "n1 n2", stays: true, err: "the drain was stopped (the lock is lost: another drain holds the lock: somebody); its nodes are cordoned still: the next drain takes them over, gapwise kubernetes drain --undo opens them"},
		"renewed by another": {answer: func(p *played, verb string, do func() error) error {
			if verb == "create" || verb == "get" {
				other(p)
			}
			return do()
		}, stays: true, log: "locked by somebody", err: "another drain holds the lock: somebody; wait for it, or stop it by Ctrl-C or TERM, which open its nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &played{t: t, c: three().cluster(t), closed: map[string]bool{}, lost: map[int]int{}, rng: rand.New(rand.NewPCG(1, 2)), ends: time.Minute}
				for k := range p.c.Pods {
					grace := int64(90)
					p.c.Pods[k].Spec.TerminationGracePeriodSeconds = &grace
				}
				log := ""
				_, err := kubernetes.Drain(t.Context(), leased{p, func(verb string, do func() error) error {
					if x.answer == nil {
						return do()
					}
					return x.answer(p, verb, do)
				}}, p.options("a test", func(format string, args ...any) { log += fmt.Sprintf(format, args...) + "\n" }))
				_, closed := p.inUse()
				if err == nil && x.err != "" || err != nil && err.Error() != x.err || strings.Join(closed, " ") != x.closed || (p.lease != nil) != x.stays || !strings.Contains(log, x.log) {
					t.Errorf("%v, want %q; cordoned %v, want %q; the lease stays: %v\n%s", err, x.err, closed, x.closed, p.lease != nil, log)
				}
			})
		})
	}
}

// The lease is written by calls that fail if it isn't as it was read, and what kubectl says is told apart.
func TestKubectlLease(t *testing.T) {
	folder := standIn(t, `#!/bin/sh
case "$*" in
"create --raw /apis/coordination.k8s.io/v1/namespaces/there/leases -f -") echo 'Error from server (AlreadyExists): leases exist' ;;
"replace --raw /apis/coordination.k8s.io/v1/namespaces/there/leases/gapwise-drain -f -") echo 'Error from server (Conflict): modified' ;;
"get --raw /apis/coordination.k8s.io/v1/namespaces/gone/leases/gapwise-drain") echo 'Error from server (NotFound): leases' ;;
"get --raw "*) echo '{"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"x"}}' >&3; exit ;;
"delete --raw /apis/coordination.k8s.io/v1/namespaces/there/leases/gapwise-drain -f -") cat >"$(dirname "$0")/deleted"; exit ;;
*) echo 'Error from server (Forbidden): leases is forbidden' ;;
esac 3>&1 >&2
exit 1
`)
	for _, x := range []struct {
		verb, namespace string
		want            error
	}{{"create", "there", kubernetes.ErrTaken}, {"replace", "there", kubernetes.ErrTaken}, {"get", "gone", kubernetes.ErrGone}} {
		if err := (kubernetes.Kubectl{Namespace: x.namespace}).Lease(t.Context(), x.verb, new(coordinationv1.Lease)); !errors.Is(err, x.want) {
			t.Errorf("%s in %s: %v, want %v", x.verb, x.namespace, err, x.want)
		}
	}
	if err := (kubernetes.Kubectl{Namespace: "forbidden"}).Lease(t.Context(), "create", new(coordinationv1.Lease)); err == nil || errors.Is(err, kubernetes.ErrTaken) || errors.Is(err, kubernetes.ErrGone) {
		t.Errorf("forbidden: %v", err)
	}
	k, l := kubernetes.Kubectl{Namespace: "there"}, new(coordinationv1.Lease)
	require.OK(t, k.Lease(t.Context(), "get", l))
	require.OK(t, k.Lease(t.Context(), "delete", l))
	require.Same(t, "precondition", true, strings.Contains(string(require.Value(os.ReadFile(filepath.Join(folder, "deleted")))(t)), `"resourceVersion":"7"`))
}
