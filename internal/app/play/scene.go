// SPDX-License-Identifier: MIT

package play

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gapwise/gapwise/internal/text/look"
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
	Drop  string `json:"drop,omitempty"` // the target of a box that is dropped here, see Move; "" for nothing
	Role  Role   `json:"role,omitempty"`
	Named bool   `json:"named,omitempty"` // lanes are numbered: processors, PEs, slots
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
	// Facts describe the box, a line each.
	Facts []string `json:"facts"`
	// Drag states where a person may move the box: "time", "row", "both", or "" for nowhere.
	Drag string `json:"drag,omitempty"`
	// Window is from when to when the item may lie; nil if there is none.
	Window []float64 `json:"window,omitempty"`
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

// most is how many boxes a page draws quickly.
const most = 6000

// tints is how many tints boxes wear that no role colours.
const tints = look.Tints

// cut keeps the picture small enough to be drawn.
func (s *Scene) cut() {
	if len(s.Boxes) > most {
		s.Note = fmt.Sprintf("%d of %d boxes are drawn; gapwise gantt draws them all", most, len(s.Boxes))
		s.Boxes = s.Boxes[:most]
	}
	s.Arrows = slices.DeleteFunc(s.Arrows, func(a Arrow) bool { return max(a.From, a.To) >= len(s.Boxes) })
	if s.Rows == nil {
		s.Rows = []Row{}
	}
	if s.Boxes == nil {
		s.Boxes = []Box{}
	}
}

// span sets the axis to hold all boxes, from 0 unless the first begins much later.
func (s *Scene) span() {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range s.Boxes {
		low, high = min(low, s.Boxes[i].Low), max(high, s.Boxes[i].High)
	}
	for _, m := range s.Marks {
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
	s.Low, s.High = low, high
}

// row adds a row and returns its number.
func (s *Scene) row(r Row) int {
	s.Rows = append(s.Rows, r)
	return len(s.Rows) - 1
}

// stack puts boxes of a row into as few lanes as hold them side by side.
func (s *Scene) stack(row int, boxes []Box) {
	slices.SortStableFunc(boxes, func(a, b Box) int { return cmp.Compare(a.Low, b.Low) })
	var ends []float64
	for _, b := range boxes {
		lane := slices.IndexFunc(ends, func(end float64) bool { return end <= b.Low+1e-9 })
		if lane < 0 {
			lane, ends = len(ends), append(ends, 0)
		}
		ends[lane] = b.High
		b.Row, b.Lane, b.Lanes = row, lane, 1
		s.Boxes = append(s.Boxes, b)
	}
	s.Rows[row].Lanes = max(1, len(ends))
}

// ranges splits ascending numbers into runs of neighbours.
func ranges[T ~int | ~int32](numbers []T) (all [][2]int) {
	for i, p := range numbers {
		if i == 0 || p > numbers[i-1]+1 {
			all = append(all, [2]int{int(p), int(p)})
		}
		all[len(all)-1][1] = int(p)
	}
	return all
}

// number prints a figure to six digits.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "?"
	}
	return fmt.Sprintf("%.6g", x)
}

// seconds prints a span of time.
func seconds(from, to float64) string {
	return fmt.Sprintf("%s to %s s (%s s)", number(from), number(to), number(to-from))
}

// plural prints a count with its word.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// clean makes a name from a file fit to be shown.
func clean(name string) string {
	if !utf8.ValidString(name) {
		name = strings.ToValidUTF8(name, "?")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, name)
}

// sceneOf draws a solution, which must be shaped like its instance. The bound is NaN if
// none is known.
func sceneOf(in model.Instance, s model.Solution, arrived []float64, bound float64) (*Scene, error) {
	var scene *Scene
	var err error
	switch in := in.(type) {
	case *model.DAG:
		scene, err = dagScene(in, s.(*model.Schedule), arrived, bound)
	case *model.Batch:
		scene, err = batchScene(in, s.(*model.Execution))
	case *model.Reservation:
		scene, err = reservationScene(in, s.(*model.Bookings))
	case *model.TVC:
		scene, err = tvcScene(in, s.(*model.Embeddings))
	case *model.VCSched:
		scene, err = vcschedScene(in, s.(*model.Placement))
	case *model.Consolidation:
		scene, err = consolidationScene(in, s.(*model.Assignment))
	default:
		err = fmt.Errorf("%w: there is no picture of a %s", model.ErrUnsupported, in.Kind())
	}
	if err != nil {
		return nil, err
	}
	scene.cut()
	if start := model.StartTime(in); !start.IsZero() {
		scene.Start = start.Format("2006-01-02T15:04:05Z07:00")
	}
	return scene, nil
}
