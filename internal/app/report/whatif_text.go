// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// words describes a case.
func (c *whatIfCase) words() string {
	unit := "processors"
	if len(c.in.Nodes) > 0 {
		unit = "nodes"
	}
	said := fmt.Sprintf("%s (%s) on %s %s", c.Policy, gapwise.ClassOf(model.KindBatch, c.Policy), words.Short(float64(c.in.Processors), 0), unit)
	switch c.Estimates {
	case estimatesExact:
		said += ", estimates are the runtimes"
	case estimatesPredicted:
		said += ", runtimes predicted by the user's last two jobs"
	default:
		said += ", users' estimates"
	}
	said += c.replay.words()
	if c.Load > 0 {
		said += fmt.Sprintf(", times between submissions divided by %g", c.Load)
	}
	return said
}

// letter names a change in headings: A, B, ..., Z, C27, ...
func letter(k int) string {
	if k <= 26 {
		return string(rune('A' + k - 1))
	}
	return fmt.Sprintf("C%d", k)
}

// intervalWords explains the intervals.
func (x *whatIf) intervalWords() string {
	if x.block == "" {
		return fmt.Sprintf("No intervals: the log has fewer than %d days with submissions.", fewestBlocks)
	}
	return fmt.Sprintf("Differences are paired by job. In brackets: 95 %% intervals by %d resamples of %s of submissions, drawn with replacement (block bootstrap). They tell how far the difference depends on which %ss were observed, and nothing of users who would submit otherwise.",
		resamples, words.Plural(len(x.blocks), x.block), x.block)
}

// The words of the last rows: the clairvoyant, which can't be run, and the bound, which can't be beaten.
const (
	seerName   = "clairvoyant response"
	boundName  = "bound of response"
	provedName = "proved change of best"
)

// groundWords explains the clairvoyant and the bound.
func (x *whatIf) groundWords() string {
	return fmt.Sprintf("The clairvoyant (a yardstick, which nobody can run) is the best mean response that is known: of the policies here, which who knows all runtimes can copy, and of auto, with an effort of %s a column; no schedule beats the bound. What lies between a policy and the clairvoyant is its regret. The proved change of the best is between its ends, whichever schedules are best: from this bound less today's clairvoyant to this clairvoyant less today's bound, and not above 0 where the machine can do more.", words.Short(float64(x.effort), 0))
}

// text writes the summary.
func (x *whatIf) text(w io.Writer) error {
	var b strings.Builder
	para := func(format string, args ...any) { fmt.Fprintln(&b, words.Wrap(fmt.Sprintf(format, args...), 78, 2)) }
	in := x.cases[0].in
	para("What if, on the %s jobs of %s", words.Short(float64(len(in.Jobs)), 0), in.Name)
	for k, c := range x.cases {
		if k == 0 {
			para("today: %s", c.words())
		} else {
			para("%s: %s: %s", letter(k), c.name, c.words())
		}
	}
	x.textTables(&b)
	para("%s", x.intervalWords())
	para("%s", x.groundWords())
	para("%s", x.measureWords())
	for _, line := range x.costWords() {
		para("%s", line)
	}
	if len(x.left) > 0 {
		para("%s", x.leftWords())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// measureWords explains some of the measures.
func (x *whatIf) measureWords() (said string) {
	if len(x.cases[0].in.Nodes) == 0 {
		said = "Started unfairly: jobs that start later than if those that waited at their submission had gone first, in the order of arrival. "
	}
	return said + "Steady: the tenth of the time at either end, warm-up and cool-down, is cut. " + x.todayWords()
}

// todayWords tells what stands for today, and how far that is from the log.
func (x *whatIf) todayWords() string {
	switch {
	case x.log != nil:
		return strings.TrimSpace(x.today.words(x.fitted, cmp.Or(x.block, "tenth")) + " " + x.farWords())
	case x.unran != "":
		return "Today is the policy on the log's jobs. The log's own scheduler isn't beside it: " + x.unran + "."
	}
	return "Today is the policy on the log's jobs, not what the log's own scheduler did, and its error isn't known."
}

// farShare is the share of the log's mean wait from which on an error of today's replay is said by itself.
const farShare = 0.2

// farWords warns of a replay that is far from the log; "" if it is near, or nothing tells.
func (x *whatIf) farWords() string {
	wait := &x.measures()[0]
	off, by := x.off(wait), wait.valueOf(x.log)
	if !(math.Abs(off) > farShare*by) {
		return ""
	}
	return fmt.Sprintf("Today's replay is far from this log: its mean wait is off by %s of %s %s, so don't rely on what a change brings; --policy names another policy.", signed(off), shown(by), wait.unit)
}

// changeWords writes a change of a figure from today, in parentheses if it is smaller than the error of today's replay.
func (x *whatIf) changeWords(m *whatIfMeasure, change float64) string {
	if math.Abs(change) < math.Abs(x.off(m)) {
		return "(" + signed(change) + ")"
	}
	return signed(change)
}

// textColumn holds the cells of a case, a line each.
func (x *whatIf) textColumn(k int) []string {
	c, today := x.cases[k], x.cases[0]
	cells := []string{letter(k)}
	if k == 0 {
		cells[0] = "today"
	}
	measures := x.measures()
	for i := range measures {
		m := &measures[i]
		y := m.valueOf(c)
		if cells = append(cells, shown(y)); k == 0 {
			if cells = append(cells, "", "", ""); !math.IsNaN(x.off(m)) {
				cells[len(cells)-1] = signed(x.off(m))
			}
			continue
		}
		cells = append(cells, x.changeWords(m, y-m.valueOf(today)))
		if low, high := x.interval(m, c); math.IsNaN(low) {
			cells = append(cells, "", "")
		} else {
			cells = append(cells, fmt.Sprintf("[%s %s]", signed(low), signed(high)), "")
		}
	}
	cells = append(cells, shown(*c.seer.Objective/x.seconds), shown(c.bound()/x.seconds))
	if k == 0 {
		return append(cells, "")
	}
	return append(cells, x.provedWords(c))
}

// costWords sets the price of a larger machine against the waiting that it saves, for each case with more processors or
// nodes; nothing without Solving.NodeCost.
func (x *whatIf) costWords() (all []string) {
	today := x.cases[0]
	last := 0.0
	for _, end := range today.ends {
		last = max(last, end)
	}
	hours := (last - today.in.Jobs[0].SubmitS) / 3600
	for k, c := range x.cases {
		more := c.in.Processors - today.in.Processors
		if x.nodeCost == 0 || more <= 0 {
			continue
		}
		cost, saved := x.nodeCost*float64(more)*hours, 0.0
		for i := range c.waits {
			saved += (today.waits[i] - c.waits[i]) / 3600
		}
		unit := "processor"
		if len(c.in.Nodes) > 0 {
			unit = "node"
		}
		said := fmt.Sprintf("%s: %s more for the log's %s hours cost %s; all jobs together wait %s hours less", letter(k), words.Plural(more, unit), shown(hours), shown(cost), shown(saved))
		if saved > 0 {
			said += fmt.Sprintf(", %s for each hour", shown(cost/saved))
		}
		if off := x.off(&meanWait); !math.IsNaN(off) {
			said += fmt.Sprintf("; the error of today's mean wait makes %s hours", signed(off*float64(len(c.waits))/3600))
		}
		all = append(all, said+".")
	}
	return all
}

// logColumn is textColumn of the log's own scheduler.
func (x *whatIf) logColumn() []string {
	cells := []string{gapwise.LogAlgorithm}
	measures := x.measures()
	for i := range measures {
		cells = append(cells, shown(measures[i].valueOf(x.log)), "", "", "")
	}
	return append(cells, "", "", "")
}

// textTables writes today next to as many changes as fit 80 columns, then next to the following ones.
func (x *whatIf) textTables(b *strings.Builder) {
	first := []string{""}
	for _, m := range x.measures() {
		first = append(first, m.title(), "  change", "", "  error of today")
	}
	for _, name := range []string{seerName, boundName, provedName} {
		first = append(first, name+" ("+x.unit+")")
	}
	width := func(cells []string) (most int) {
		for _, c := range cells {
			most = max(most, utf8.RuneCountInString(c))
		}
		return most
	}
	fixed := [][]string{x.textColumn(0)}
	if x.log != nil {
		fixed = slices.Insert(fixed, 0, x.logColumn())
	}
	room := 80 - width(first)
	for _, c := range fixed {
		room -= 2 + width(c)
	}
	for next := 1; next < len(x.cases) || next == 1; {
		columns := slices.Clip(fixed)
		for left := room; next < len(x.cases); next++ {
			c := x.textColumn(next)
			if left -= width(c) + 2; left < 0 && len(columns) > len(fixed) {
				break
			}
			columns = append(columns, c)
		}
		next = max(next, 2)
		fmt.Fprintln(b)
		for line, name := range first {
			out, empty := name+strings.Repeat(" ", width(first)-utf8.RuneCountInString(name)), true
			for _, c := range columns {
				out += strings.Repeat(" ", 2+width(c)-utf8.RuneCountInString(c[line])) + c[line]
				empty = empty && c[line] == ""
			}
			if !empty { // a change without an interval, or of today alone
				fmt.Fprintln(b, strings.TrimRight(out, " "))
			}
		}
	}
	fmt.Fprintln(b)
}

// provedWords writes the limits of the change of a case's optimum.
func (x *whatIf) provedWords(c *whatIfCase) string {
	low, high := x.proved(c)
	return fmt.Sprintf("[%s %s]", signed(low/x.seconds), signed(high/x.seconds))
}

// shown writes a figure with three digits at least.
func shown(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return words.Three(x)
}

// signed is shown with a sign.
func signed(x float64) string {
	if text := shown(x); x > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return shown(x)
}
