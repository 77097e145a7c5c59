// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// Change is a what-if: the differences from today on a machine with a queue. Empty fields and 0 are as today.
type Change struct {
	Text       string // as it was given
	Policy     string
	Estimates  string  // one of changeEstimates
	Processors int     // or
	Factor     float64 // times today's processors or nodes, rounded
	Load       float64 // the times between submissions are divided by it
	nodes      []nodesChange
}

// The values of Change.Estimates: the users', the runtimes, or predictions by the user's last
// two jobs (model.BatchPredictionLastTwo).
const (
	estimatesUsers     = "users"
	estimatesExact     = "exact"
	estimatesPredicted = "predicted"
)

var changeEstimates = []string{estimatesUsers, estimatesExact, estimatesPredicted}

// ChangeHelp lists the possible changes.
const ChangeHelp = "processors=120 or processors=1.2x, policy=NAME, estimates=" + estimatesUsers + ", " + estimatesExact + " or " + estimatesPredicted +
	" (mean runtime of the user's last two jobs), load=1.1x (the times between submissions are divided by 1.1); " + nodesHelp

// ParseChange reads a change such as processors=1.2x,policy=easy-saf. The error wraps
// model.ErrInvalid.
func ParseChange(text string) (Change, error) {
	c := Change{Text: text}
	bad := func(format string, args ...any) (Change, error) {
		return c, fmt.Errorf("%w what-if %q: %s", model.ErrInvalid, text, fmt.Sprintf(format, args...))
	}
	for _, part := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || value == "" {
			return bad("%q isn't key=value; give %s", part, ChangeHelp)
		}
		factor, times := strings.CutSuffix(value, "x")
		number, err := strconv.ParseFloat(factor, 64)
		switch key {
		case "processors":
			whole := number == math.Trunc(number) && number <= 1e7
			if err != nil || !(number > 0) || !times && !whole || times && number > 1e4 {
				return bad("processors is %q, must be a number such as 120, or of times such as 1.2x", value)
			}
			if c.Processors, c.Factor = 0, number; !times {
				c.Processors, c.Factor = int(number), 0
			}
		case "load":
			if err != nil || !times || !(number >= 0.01 && number <= 100) {
				return bad("load is %q, must be a number of times such as 1.1x, from 0.01x to 100x", value)
			}
			c.Load = number
		case "policy":
			if value == "auto" || value == "exact" {
				return bad("%s is no policy but the yardstick, which stands below each column as the clairvoyant; give an algorithm such as %s", value, DefaultPolicy)
			}
			if _, err := gapwise.Find(model.KindBatch, value); err != nil {
				return bad("%v", err)
			}
			c.Policy = value
		case "estimates":
			if !slices.Contains(changeEstimates, value) {
				return bad("estimates is %q, must be one of %s", value, strings.Join(changeEstimates, ", "))
			}
			c.Estimates = value
		default:
			change, ok, err := parseNodes(key, value)
			if !ok {
				return bad("there is no key %q; give %s", key, ChangeHelp)
			}
			if err != nil {
				return bad("%v", err)
			}
			c.nodes = append(c.nodes, change)
		}
	}
	return c, nil
}

// keeps reports whether the changed machine has the same schedules of the same response times: policies differ alone,
// and estimates. Exact ones are the work that a job does today, also if it ends at its estimate.
func (c *Change) keeps() bool {
	return len(c.nodes) == 0 && c.Processors == 0 && c.Factor == 0 && c.Load == 0
}

// loosens reports whether each schedule of today's machine is one of the changed machine.
func (c *Change) loosens(today *model.Batch) bool {
	for _, n := range c.nodes {
		if n.factor > 0 && n.factor < 1 {
			return false
		}
	}
	return c.Load == 0 && (c.Processors == 0 || c.Processors >= today.Processors) && (c.Factor == 0 || c.Factor >= 1)
}

// apply returns today's instance with the change. The error wraps model.ErrInvalid: a job doesn't fit.
func (c *Change) apply(today *model.Batch) (*model.Batch, error) {
	in := *today
	for k := range c.nodes {
		if err := c.nodes[k].apply(&in); err != nil {
			return nil, fmt.Errorf("%w what-if %q: %v; give %s", model.ErrInvalid, c.Text, err, ChangeHelp)
		}
	}
	switch {
	case c.Factor > 0 && len(in.Nodes) > 0:
		c.multiply(&in)
	case c.Processors > 0 && len(in.Nodes) > 0:
		return nil, fmt.Errorf("%w what-if %q: the machine has nodes; give times such as 1.2x, or %s; or read a log with --unit cpus, as one machine", model.ErrInvalid, c.Text, nodesHelp)
	case c.Processors > 0:
		in.Processors = c.Processors
	case c.Factor > 0:
		in.Processors = max(1, int(math.Round(c.Factor*float64(today.Processors))))
	}
	large, largest := 0, 0
	for k := range in.Jobs {
		if n := in.Jobs[k].Processes; n > in.Processors && len(in.Nodes) == 0 {
			large, largest = large+1, max(largest, n)
		}
	}
	if large > 0 {
		return nil, fmt.Errorf("%w what-if %q: %d jobs need more than %d processors, up to %d", model.ErrInvalid, c.Text, large, in.Processors, largest)
	}
	if c.Load == 0 && c.Estimates != estimatesExact {
		return &in, nil
	}
	in.Jobs = slices.Clone(in.Jobs)
	for k := range in.Jobs {
		j := &in.Jobs[k]
		if c.Estimates == estimatesExact {
			j.EstimateS = in.Work(k)
		}
		if c.Load > 0 {
			j.SubmitS = math.Round(1e6*j.SubmitS/c.Load) / 1e6
		}
	}
	return &in, nil
}

// multiply has the factor as many nodes, in each group about as many times its own. It rounds the sums of the first
// groups, so the nodes are as many times today's as they can be. With a factor of at least 1 no group loses a node, as
// round(x+y) - round(x) is at least floor(y).
func (c *Change) multiply(in *model.Batch) {
	in.Nodes, in.Processors = slices.Clone(in.Nodes), 0
	before, sum := 0, 0
	for g := range in.Nodes {
		n := &in.Nodes[g]
		sum += n.Count
		upTo := int(math.Round(c.Factor * float64(sum)))
		n.Count = max(1, upTo-before)
		before = upTo
		in.Processors += n.Count
	}
}
