// SPDX-License-Identifier: MIT

package draw

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/words"
)

// Terminal draws a solution in characters, columns wide, at least 40: rows are machines, PEs, processors, servers or
// hosts. Time goes from left to right. A vcsched's axis is the CPU of a host, as its tasks use it, a consolidation's
// the first resource. Tasks that move have a star. A task or job is a bar with its id if the rows are few and each
// holds one thing at a time. A machine that runs several tasks at once has a row for each. Otherwise rows are summed up, and a column shows the share of them in use. Schedules show
// tasks, no transfers. The error wraps model.ErrInvalid for a solution that isn't one of the instance. O(B (rows +
// columns)) for B bars.
func Terminal(w io.Writer, columns int, f Frame) error {
	x, err := scene.Of(f.Instance, f.Solution, scene.Options{})
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	t := &terminal{columns: max(columns, 40), capacity: 1, axis: "s"}
	t.read(x)
	out := bufio.NewWriter(w)
	t.write(out)
	return out.Flush()
}

// mostTerminalRows bounds the rows of a picture in characters.
const mostTerminalRows = 24

// terminal is a picture in characters.
type terminal struct {
	columns  int
	rows     []string // names, from top to bottom
	bars     []textBar
	capacity float64 // of a row, in weights
	axis     string  // unit of the axis
	from, to float64 // ends of the axis, which also holds all bars
}

// textBar is a bar in one row, or in several that follow each other.
type textBar struct {
	row, rows int
	from, to  float64
	label     string
	weight    float64 // how much of a row's capacity it takes
}

// read makes lines of the rows that characters show: of hosts the first resource, of numbered lanes each, and of the
// network none.
func (t *terminal) read(x *scene.Scene) {
	line, busy, unit := make([]int, len(x.Rows)), make([]bool, len(x.Rows)), 1.0
	for i := range x.Boxes {
		busy[x.Boxes[i].Row] = true
	}
	if x.Unit == "%" {
		unit, t.to = 100, 1
	}
	lanes := 0
	for _, r := range x.Rows {
		if r.Group == scene.Machines {
			lanes += r.Lanes
		}
	}
	apart := lanes <= mostTerminalRows // each lane of a machine has a line of its own, below the machine's name
	for k, r := range x.Rows {
		line[k] = len(t.rows)
		switch {
		case r.Group == scene.Links, unit > 1 && k > 0 && r.Group == x.Rows[k-1].Group, r.Named && k > 0 && !busy[k]:
			line[k] = -1
		case r.Named:
			for n := range r.Lanes {
				t.rows = append(t.rows, fmt.Sprint(r.Name, " ", n))
			}
		case r.Group == scene.Machines:
			t.rows = append(t.rows, r.Label)
			for n := 1; n < r.Lanes && apart; n++ {
				t.rows = append(t.rows, "")
			}
		default:
			t.rows, t.capacity = append(t.rows, cmp.Or(r.Name, r.Label)), float64(r.Lanes)
		}
		if unit > 1 {
			t.axis = "of a host's " + x.Rows[0].Label
		}
	}
	for i := range x.Boxes {
		b := &x.Boxes[i]
		bar := textBar{line[b.Row], 1, b.Low / unit, b.High / unit, b.Label, float64(b.Lanes)}
		switch {
		case bar.row < 0:
			continue
		case x.Rows[b.Row].Named:
			bar.row, bar.rows, bar.weight = bar.row+b.Lane, b.Lanes, 1
		case x.Rows[b.Row].Group == scene.Machines && apart:
			bar.row += b.Lane
		case x.Rows[b.Row].Group == scene.Machines:
			bar.weight /= float64(x.Rows[b.Row].Lanes)
		case b.From != "":
			bar.label += "*" // it moves
		}
		t.bars = append(t.bars, bar)
	}
}

// write draws the bars.
func (t *terminal) write(w *bufio.Writer) {
	for _, b := range t.bars {
		t.from, t.to = min(t.from, b.from), max(t.to, b.to)
	}
	if t.to <= t.from {
		t.to = t.from + 1
	}
	each := (len(t.rows) + mostTerminalRows - 1) / mostTerminalRows // rows in a line
	var names []string
	for first := 0; first < len(t.rows); first += each {
		last := min(first+each, len(t.rows)) - 1
		name := t.rows[first]
		if last > first {
			_, number, _ := strings.Cut(t.rows[last], " ")
			name += "-" + number
		}
		names = append(names, name)
	}
	margin := 0
	for k, name := range names {
		names[k] = words.Shorten(name, 16)
		margin = max(margin, utf8.RuneCountInString(names[k]))
	}
	width := t.columns - margin - 2
	lines := t.labelled(width)
	if each > 1 || lines == nil {
		lines = t.summed(width, each, len(names))
	}
	for k, line := range lines {
		fmt.Fprintf(w, "%s%s |%s\n", strings.Repeat(" ", margin-utf8.RuneCountInString(names[k])), names[k],
			strings.TrimRight(string(line), " "))
	}
	left, right := fmt.Sprintf("%.6g", t.from), fmt.Sprintf("%.6g %s", t.to, t.axis)
	gap := max(1, width-utf8.RuneCountInString(left)-utf8.RuneCountInString(right))
	fmt.Fprintf(w, "%*s%s%*s%s\n", margin+2, "", left, gap, "", right)
}

// column returns where x is on an axis of so many columns.
func (t *terminal) column(x float64, width int) int {
	return int(math.Round((x - t.from) / (t.to - t.from) * float64(width)))
}

// labelled draws each bar in its rows, [id==]. It returns nil if a row holds two
// bars at once.
func (t *terminal) labelled(width int) [][]rune {
	bars := slices.Clone(t.bars)
	slices.SortStableFunc(bars, func(a, b textBar) int { return cmp.Compare(a.from, b.from) })
	lines, end := make([][]rune, len(t.rows)), make([]float64, len(t.rows))
	for k := range lines {
		lines[k], end[k] = []rune(strings.Repeat(" ", width)), math.Inf(-1)
	}
	for _, b := range bars {
		from, to := t.column(b.from, width), t.column(b.to, width)
		if from == to && b.to > b.from { // less than a column
			from, to = min(from, width-1), min(from, width-1)+1
		}
		text := []rune(strings.Repeat("=", max(0, to-from)))
		if n := len(text); n == 1 {
			text[0] = '|'
		} else if n > 1 {
			copy(text[1:n-1], []rune(words.Shorten(b.label, n-2)))
			text[0], text[n-1] = '[', ']'
		}
		for r := b.row; r < b.row+b.rows; r++ {
			if b.from < end[r]-1e-9*(t.to-t.from) || t.capacity != 1 {
				return nil
			}
			end[r] = max(end[r], b.to)
			copy(lines[r][from:], text)
		}
	}
	return lines
}

// shades show shares from none to all, one for each eighth.
var shades = []rune(" ▁▂▃▄▅▆▇█")

// summed draws, for each line of so many rows and each column, the share in use.
func (t *terminal) summed(width, each, count int) [][]rune {
	use := make([][]float64, count)
	for k := range use {
		use[k] = make([]float64, width)
	}
	span := (t.to - t.from) / float64(width)
	for _, b := range t.bars {
		first := min(int((b.from-t.from)/span), width-1)
		for c := first; c < width && t.from+float64(c)*span < b.to; c++ {
			part := min(b.to, t.from+float64(c+1)*span) - max(b.from, t.from+float64(c)*span)
			for r := b.row; r < b.row+b.rows; r++ {
				use[r/each][c] += b.weight * part / span
			}
		}
	}
	lines := make([][]rune, count)
	for k := range lines {
		rows := min(each, len(t.rows)-k*each)
		for _, u := range use[k] {
			share := u / (t.capacity * float64(rows))
			shade := int(math.Ceil(share*8 - 1e-9))
			lines[k] = append(lines[k], shades[min(max(shade, 0), 8)])
		}
	}
	return lines
}
