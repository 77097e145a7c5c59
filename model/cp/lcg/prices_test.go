package lcg

import "github.com/gapwise/gapwise/model/cp"

func init() {
	draws["among"] = func(p *pool) {
		c := &cp.Among{X: p.int()}
		c.At = p.m.Low[c.X] + p.Int64N(3) - 1
		for range p.IntN(4) {
			c.Of, c.By = append(c.Of, p.int()), append(c.By, p.Int64N(5)-2)
		}
		p.m.Add(c)
	}
	// It is of activities that share a capacity, and bounds their sum.
	draws["weighted starts"] = func(p *pool) {
		shared := &cp.Cumulative{Capacity: 1 + p.Int64N(4)}
		c := &cp.WeightedStarts{Shared: shared, Constant: p.Int64N(9) - 4}
		for range 1 + p.IntN(5) {
			shared.Starts = append(shared.Starts, p.startIf(cp.True))
			shared.Lengths, shared.Demands = append(shared.Lengths, 1+p.Int64N(3)), append(shared.Demands, 1+p.Int64N(3))
			c.Weights = append(c.Weights, p.Int64N(4))
		}
		low, high := c.Constant, c.Constant
		for i, s := range shared.Starts {
			low, high = low+c.Weights[i]*p.m.Low[s.At], high+c.Weights[i]*p.m.High[s.At]
		}
		c.Objective = p.m.Int(low+(high-low)/2-1, low+(high-low)/2+1)
		p.fits(3)
		p.m.Integers = append(p.m.Integers, c.Objective)
		sum := &cp.Linear{AtMost: -c.Constant, Terms: []cp.Term{{Times: -1, Var: c.Objective}}}
		for i, s := range shared.Starts {
			if c.Weights[i] > 0 {
				sum.Terms = append(sum.Terms, cp.Term{Times: c.Weights[i], Var: s.At})
			}
		}
		p.m.Add(shared, sum, c)
	}
}
