// SPDX-License-Identifier: MIT

// Package scene says the picture of a solution as data, in one file a problem: rows with boxes along an axis, arrows
// and marks. Package draw renders it on paper and in characters, the playground's page in a browser.
package scene

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// Scene is the picture of a solution as data: rows with boxes along one axis. The page
// draws it, and knows nothing else of a problem.
type Scene struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"` // of the axis: "s", or "%" of a host
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Start  string  `json:"start,omitempty"` // when second 0 is, RFC 3339
	Rows   []Row   `json:"rows"`
	Boxes  []Box   `json:"boxes"`
	Arrows []Arrow `json:"arrows,omitempty"`
	Marks  []Mark  `json:"marks,omitempty"`
	Note   string  `json:"note,omitempty"` // the parts not drawn
}

// Row is a machine, a host's resource, a server, or all processors: it has lanes of equal
// height.
type Row struct {
	Label string `json:"label"`
	Group string `json:"group"` // rows of one group are adjacent
	Lanes int    `json:"lanes"`
	Drop  string `json:"drop,omitempty"` // the target of a box that is dropped here; "" for nothing
	Role  Role   `json:"role,omitempty"`
	Named bool   `json:"named,omitempty"` // lanes are numbered: processors, PEs, slots
	// Name is the short name of a host or, if lanes are numbered, of one of them.
	Name string `json:"-"`
	// Remark describes the fate of a host without tasks.
	Remark string `json:"-"`
}

// Role is the meaning of a box; each has one colour in all pictures. A box without one wears a tint without meaning.
type Role string

// The roles.
const (
	Critical   Role = "critical"
	Tight      Role = "tight"
	Moved      Role = "moved"
	Declined   Role = "declined"
	Waiting    Role = "waiting"
	Suspended  Role = "suspended"
	Background Role = "background"
	Transfer   Role = "transfer"
	Lost       Role = "lost"
)

// Box is a rectangle: a task, a booking, a segment of a run, a virtual machine's share.
type Box struct {
	Item  string  `json:"item"`           // the id of the task, request or job
	Task  int     `json:"task,omitempty"` // of a vcsched or consolidation: which task of the job; of a tvc: the server
	Row   int     `json:"row"`
	Lane  int     `json:"lane"`
	Lanes int     `json:"lanes"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Label string  `json:"label"`
	Role  Role    `json:"role,omitempty"`
	Tint  int     `json:"tint"`
	// Facts describe the box, a line each. A page alone has them.
	Facts []string `json:"facts"`
	// Drag states where a person may move the box: "time", "row", "both", or "" for nowhere.
	Drag string `json:"drag,omitempty"`
	// Window is from when to when the item may lie; nil if there is none.
	Window []float64 `json:"window,omitempty"`

	// Number is the item's place in the instance.
	Number int `json:"-"`
	// Used is the end of the part of a booking that is used; the rest is reserved.
	Used float64 `json:"-"`
	// Cancelled says that a booking never begins.
	Cancelled bool `json:"-"`
	// Need is how much further an item would reach if it got all that it needs.
	Need float64 `json:"-"`
	// From is the host on which a task that moves runs now.
	From string `json:"-"`

	facts func() []string
}

// Arrow leads from the end of one box to the start of another, by their numbers.
type Arrow struct {
	From int  `json:"from"`
	To   int  `json:"to"`
	Role Role `json:"role,omitempty"`
}

// Mark is a line across the picture.
type Mark struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
	Bound bool    `json:"bound,omitempty"`
}

// Options describe the use of a scene.
type Options struct {
	// Arrived holds the time at which each of a schedule's transfers ends.
	Arrived []float64
	// Bound is the value that no solution beats; nil if none is known.
	Bound *float64
	// Page adds the parts that a page alone shows: waiting and declined requests, loads of links, and facts. It leaves
	// out boxes that are too many to be drawn quickly.
	Page bool
}

// Of returns the scene of a solution. The error wraps model.ErrInvalid for one that has another shape than the instance
// asks for, and model.ErrUnsupported for problems without a picture.
func Of(in model.Instance, s model.Solution, o Options) (x *Scene, err error) {
	switch in := in.(type) {
	case *model.DAG:
		x, err = typed(in, s, o, dag)
	case *model.Batch:
		x, err = typed(in, s, o, batch)
	case *model.Reservation:
		x, err = typed(in, s, o, reservation)
	case *model.TVC:
		x, err = typed(in, s, o, tvc)
	case *model.VCSched:
		x, err = typed(in, s, o, vcsched)
	case *model.Consolidation:
		x, err = typed(in, s, o, consolidation)
	default:
		err = fmt.Errorf("%w: there is no picture of a %s", model.ErrUnsupported, in.Kind())
	}
	if err != nil {
		return nil, err
	}
	if o.Page {
		x.cut()
	}
	if start := model.StartTime(in); !start.IsZero() {
		x.Start = start.Format("2006-01-02T15:04:05Z07:00")
	}
	return x, nil
}

// typed builds the scene of an instance and a solution of their types.
func typed[I model.Instance, S model.Solution](in I, solution model.Solution, o Options,
	build func(I, S, Options) (*Scene, error)) (*Scene, error) {
	s, ok := solution.(S)
	if !ok {
		return nil, fmt.Errorf("%w solution: a %T can't solve a %s instance", model.ErrInvalid, solution, in.Kind())
	}
	return build(in, s, o)
}

// most is how many boxes a page draws quickly.
const most = 6000

// cut keeps the picture small enough to be drawn in a page, and describes its boxes.
func (x *Scene) cut() {
	if len(x.Boxes) > most {
		x.Note = fmt.Sprintf("%d of %d boxes are drawn; gapwise gantt draws them all", most, len(x.Boxes))
		x.Boxes = x.Boxes[:most]
	}
	many := len(x.Arrows) > 300
	x.Arrows = slices.DeleteFunc(x.Arrows, func(a Arrow) bool {
		return max(a.From, a.To) >= len(x.Boxes) || many &&
			a.Role == ""
	})
	for i := range x.Boxes {
		b := &x.Boxes[i]
		b.Facts, b.Tint = b.facts(), b.Tint%theme.Tints
	}
	if x.Rows == nil {
		x.Rows = []Row{}
	}
	if x.Boxes == nil {
		x.Boxes = []Box{}
	}
}

// span sets the axis to hold all boxes, from 0 unless the first begins much later.
func (x *Scene) span() {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range x.Boxes {
		low, high = min(low, x.Boxes[i].Low), max(high, x.Boxes[i].High)
	}
	for _, m := range x.Marks {
		high = max(high, m.At)
	}
	if math.IsInf(low, 1) {
		low, high = 0, 1
	}
	if low > 0 && low < (high-low)/2 {
		low = 0
	}
	if high <= low {
		high = low + 1
	}
	x.Low, x.High = low, high
}

// row adds a row and returns its number.
func (x *Scene) row(r Row) int {
	x.Rows = append(x.Rows, r)
	return len(x.Rows) - 1
}

// pile puts a box of a size, in per cent, behind the other boxes of its row.
func (x *Scene) pile(taken []float64, row int, size float64, b Box) {
	b.Row, b.Lanes, b.Low = row, 1, taken[row]
	taken[row] += size
	b.High = taken[row]
	x.High = max(x.High, min(taken[row], 300))
	x.Boxes = append(x.Boxes, b)
}

// Ranges splits ascending numbers into runs of neighbours.
func Ranges[T ~int | ~int32](numbers []T) (all [][2]int) {
	for i, p := range numbers {
		if i == 0 || p > numbers[i-1]+1 {
			all = append(all, [2]int{int(p), int(p)})
		}
		all[len(all)-1][1] = int(p)
	}
	return all
}

// Number prints a figure to six digits.
func Number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "?"
	}
	return fmt.Sprintf("%.6g", x)
}

// seconds prints a span of time.
func seconds(from, to float64) string {
	return fmt.Sprintf("%s to %s s (%s s)", Number(from), Number(to), Number(to-from))
}

// Clean makes s fit to be drawn and put in XML: one line, no control characters, and at most a length that no picture
// has room for.
func Clean(s string) string {
	const most = 300
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == 0xFFFE, r == 0xFFFF:
			return unicode.ReplacementChar
		}
		return r
	}, s))
	if len(s) <= most {
		return s
	}
	r := []rune(s)
	return string(r[:min(len(r), most)])
}
