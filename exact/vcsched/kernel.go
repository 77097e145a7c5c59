// SPDX-License-Identifier: MIT

package vcsched

import (
	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Kernel is the exact engine for VCSched by lazy clause generation, on kernelModel.
// Like Search, it begins with packing bounds and local search; then come turns of the
// kernel (learner), local search and column generation (columns), which prices moves if
// there is a migration budget. A node is a conflict, from which a nogood is learned.
//
// It is any-time. Instances with more than maxKernel tasks × hosts get the first
// placement and the bounds without search.
var Kernel = engine.Engine[*model.VCSched, deviceSet]{ID: "kernel", Proof: true, Work: worker((*run).solveByKernel)}

// solveByKernel runs the engine Kernel.
func (s *run) solveByKernel(improve func(steps int)) error {
	if s.beside() && tooLarge(s.u) != "" {
		s.Reason = tooLarge(s.u)
		return nil
	}
	improve(firstSteps * len(s.u.CPU) * len(s.u.CPU))
	s.keep()
	return s.learn(improve, nil)
}

// keep raises the bound by the memory that hosts can keep (vcbounds.Moves.Keep).
func (s *run) keep() {
	if s.u.Current != nil && s.off&devMoves == 0 && !s.closed() {
		s.moves = vcbounds.NewMoves(s.u)
		s.raise(s.moves.Keep(s.Ctx, s.lower, min(s.upper, s.unboundedLoad())))
	}
}

// learn takes turns, each twice as long as the one before: the kernel, another search of about so many nodes if there
// is one, and local search. Column generation takes part from learnConflicts on.
func (s *run) learn(improve func(steps int), other func(nodes int64)) error {
	if s.closed() || s.stopped() { // the model of a large instance takes time
		return nil
	}
	l, err := newLearner(s)
	if err != nil {
		return err
	}
	for limit, again := int64(firstConflicts), false; !s.closed() && !s.stopped(); limit *= 2 {
		if l != nil {
			l.turn(limit)
		}
		if other != nil && !s.closed() && !s.stopped() {
			other(limit * nodesPerConflict)
		}
		improve(int(min(limit*stepsPerConflict, treeSteps)))
		if limit < learnConflicts {
			continue
		}
		s.columns(again)
		again = true
		if l == nil && other == nil {
			s.Reason = tooLarge(s.u) + ": bounds without search"
			return nil
		}
	}
	return nil
}

// columns narrows the gap by column generation; again, only from above.
func (s *run) columns(again bool) {
	switch {
	case s.off&devColumns != 0 || s.closed():
	case s.u.Current != nil && s.moves == nil:
	case s.u.Current != nil:
		s.narrow(s.moves, again)
	case again && len(s.u.Classes) == 1:
	default:
		s.patterns(again)
	}
}

const (
	// firstConflicts limits the kernel's first turn.
	firstConflicts = 125
	// learnConflicts is the number of conflicts from which on column generation takes part: easy instances are closed
	// in fewer, in less time than a linear program takes.
	learnConflicts = 1000
	// nodesPerConflict is the number of nodes of the host tree that take about as long as a conflict; stepsPerConflict
	// steps of local search take about a fifth of it.
	nodesPerConflict = 500
	stepsPerConflict = 200
)

// learner asks the kernel for placements of at most some load.
type learner struct {
	s    *run
	m    *kernelModel
	k    *lcg.Kernel
	most int64 // no placement above this load is looked for
}

// newLearner returns nil if the instance is too large.
func newLearner(s *run) (*learner, error) {
	if tooLarge(s.u) != "" {
		return nil, nil
	}
	l := &learner{s: s, most: min(s.upper, s.unboundedLoad())}
	l.m = newKernelModel(s.u, s.lower, max(l.most, s.lower), s.off)
	if err := l.m.Check(); err != nil {
		return nil, err
	}
	l.k = lcg.New(&l.m.Model)
	if s.hosts != nil {
		l.k.SetPhases(l.m.values(s.hosts))
	}
	return l, nil
}

// turn takes about so many conflicts. It looks for a better placement than the best, by as much as the gap asks for,
// until there is none. If that stays open, it looks for loads between the bounds, which are refuted the sooner the
// lower they are.
func (l *learner) turn(conflicts int64) {
	s := l.s
	for end := l.k.Conflicts + conflicts; !s.closed() && !s.stopped(); {
		if l.ask(l.next(), end-l.k.Conflicts) == unknown {
			break
		}
	}
	for share := int64(2); share <= maxProbe && !s.closed() && !s.stopped() && s.hosts != nil && s.off&devProbing == 0; {
		load := s.lower + (s.upper-s.lower)/share
		// The model's own domain refutes everything below lower, which a whole host's load of many units needn't be a
		// multiple of. That proves nothing about loads up to the next multiple.
		if l.ask(max(load-load%s.tasks.Unit, s.lower), conflicts/8) == unknown {
			share *= 2
		}
	}
}

// next returns the largest load below the best that closes the gap if it is refuted.
func (l *learner) next() int64 {
	s := l.s
	if s.hosts == nil {
		return l.most
	}
	return max(s.lower, s.upper-1-int64(s.gapLimit(model.DefaultGap/2)*float64(s.lower)))
}

// ask looks for a placement of at most a load, for so many conflicts.
func (l *learner) ask(load, conflicts int64) answer {
	s := l.s
	var premises []cp.Lit
	if load < l.most {
		premises = []cp.Lit{l.m.Objective.AtMost(load)}
	}
	before := l.k.Conflicts
	defer func() { s.Nodes += l.k.Conflicts - before }()
	for conflicts > 0 {
		switch l.k.Search(s.Ctx, conflicts-(l.k.Conflicts-before), premises...) {
		case lcg.Satisfied:
			hosts := l.m.placement(l.k.Values())
			if s.u.Fits(hosts) && s.u.MaxLoad(hosts) > max(load, s.u.Scale) && len(s.u.Classes) > 1 {
				// It has the load in the model, but its load in fact is some units larger.
				s.found(s.u.MaxLoad(hosts), hosts)
				return unknown
			}
			if s.found(max(s.u.MaxLoad(hosts), s.u.Scale), hosts) {
				l.k.SetPhases(l.k.Values())
				return yes
			}
			for _, c := range l.m.misfits(hosts) {
				l.k.Exclude(c...)
			}
			continue
		case lcg.Refuted, lcg.Infeasible:
			if load >= l.most && s.hosts == nil {
				s.Infeasible(noPlacement(s.in))
				return no
			}
			load += s.tasks.Unit - load%s.tasks.Unit
			s.raise(min(load, s.upper))
			l.k.Require(l.m.Objective.AtLeast(s.lower))
			return no
		}
		return unknown
	}
	return unknown
}

func noPlacement(in *model.VCSched) string {
	if in.MigrationBudget != nil {
		return "no placement fits in memory within the migration budget"
	}
	return "no placement fits in memory"
}
