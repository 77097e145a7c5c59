package lcg

// edges finds activities that must end a set: for a set C of activities that run within
// [t0, T), and another one, i, that starts at t0 or later,
//
//	t0 + p(C) + length i > T    i goes after all of C
//
// because if i went before one of C, it would end before that one, and by T: all would
// be in the window (edge finding; Carlier, Pinson: An algorithm for solving the
// job-shop problem, 1989). If i runs, the orders are set, and the bound follows from
// them (sets); else its start if it does: i starts after the packed end of any part
// of C. The explanation is that C runs in the window and i starts in it. O(n) for each
// T that leaves less than the longest activity (Baptiste, Le Pape, Nuijten:
// Constraint-based scheduling, 2001).
func (p *disjunctive) edges(k *Kernel, d int) bool {
	for _, end := range p.tight[d] {
		p.packed = p.packed[:0]
		// C begins at an item, the window with i before it or with C.
		sum := int64(0)
		for n := range p.items {
			x := &p.items[n]
			if x.end > end {
				if sum > 0 && x.low+sum+x.length > end && !p.after(k, d, x, x.low, end, x.low+sum+x.length-end-1) {
					return false
				}
			} else if x.runs {
				sum += x.length
			}
			p.packed = append(p.packed, sum)
		}
		if sum == 0 {
			continue
		}
		from, best := int64(0), int64(-infinite)
		for n := len(p.items) - 1; n >= 0; n-- {
			x := &p.items[n]
			if x.end <= end {
				if x.runs && x.low+p.packed[n] > best {
					from, best = x.low, x.low+p.packed[n]
				}
			} else if best+x.length > end && !p.after(k, d, x, from, end, best+x.length-end-1) {
				return false
			}
		}
	}
	return true
}

// after sets that x goes after all that run within [from, end).
func (p *disjunctive) after(k *Kernel, d int, x *item, from, end, spare int64) bool {
	sum, best, since, news := int64(0), int64(-infinite), int64(0), false // packed end, from the start since
	for n := range p.items {
		if y := &p.items[n]; y.runs && y.low >= from && y.end <= end {
			if sum += y.length; y.low+sum > best {
				best, since = y.low+sum, y.low
			}
			news = news || !k.holds(p.goes(y.number, x.number, d))
		}
	}
	if !news && x.runs || best <= x.low && !x.runs {
		return true
	}
	p.premises = append(p.block(p.premises[:0], d, from, end, spare, -1), p.from(x.number, d, from-spare/2))
	if x.runs {
		p.premises = append(p.premises, p.c.Starts[x.number].If)
	}
	for n := range p.items {
		y := &p.items[n]
		if !y.runs || y.low < from || y.end > end {
			continue
		}
		if x.runs && !k.imply(p.goes(y.number, x.number, d), p.premises) {
			return false
		} else if !x.runs && y.low >= since {
			p.premises = append(p.premises, p.from(y.number, d, since))
		}
	}
	return x.runs || k.imply(p.from(x.number, d, best), p.premises)
}

// notLast finds activities that can't end a set: for a set C of activities that run
// from t0 at the soonest, and another one, i,
//
//	t0 + p(C) > latest start of i    i doesn't go last
//
// so i ends by the latest start of one of C (Vilím: O(n log n) filtering algorithms for
// unary resource constraint, 2004). C are those that start sooner than i ends. The
// explanation names these bounds. O(n²) for each direction.
func (p *disjunctive) notLast(k *Kernel, d int) bool {
	for i := range p.items {
		x := &p.items[i]
		sum, latest := int64(0), int64(-infinite)
		for j := range p.items {
			y := &p.items[j]
			if !y.runs || i == j || y.end-y.length >= x.end {
				continue
			}
			sum, latest = sum+y.length, max(latest, y.end-y.length)
			spare := y.low + sum - (x.end - x.length) - 1
			if spare < 0 {
				continue
			}
			premises := append(p.premises[:0], p.by(x.number, d, x.end+spare-spare/2))
			for _, z := range p.items[:j+1] {
				if z.runs && z.number != x.number && z.end-z.length <= latest {
					premises = append(premises, p.c.Starts[z.number].If, p.from(z.number, d, y.low-spare/2), p.by(z.number, d, latest+z.length))
				}
			}
			p.premises = premises
			if !k.imply(p.by(x.number, d, latest), premises) {
				return false
			}
			break
		}
	}
	return true
}
