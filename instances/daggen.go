// SPDX-License-Identifier: MIT

package instances

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sync"

	"github.com/gapwise/gapwise/model"
)

// daggen is one graph of a file in the format of the data set daggen-1296: one
// JSON object per line, gzipped or not.
type daggen struct {
	ID      string     `json:"id"`
	Tasks   int        `json:"n"`
	Fat     float64    `json:"fat"`
	Density float64    `json:"density"`
	Regular float64    `json:"regular"`
	Jump    int        `json:"jump"`
	Edges   [][3]int64 `json:"edges"` // from, to, bytes; tasks from 0
}

// readDaggen reads the graphs; errors wrap model.ErrInvalid and name the line.
func readDaggen(data []byte) ([]daggen, error) {
	data, err := unzip(data)
	if err != nil {
		return nil, fmt.Errorf("%w daggen file: %w", model.ErrInvalid, err)
	}
	var all []daggen
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for line := 1; lines.Scan(); line++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var g daggen
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			return nil, fmt.Errorf("%w daggen file: line %d: %w", model.ErrInvalid, line, err)
		}
		for _, e := range g.Edges {
			if e[0] < 0 || e[0] >= e[1] || e[1] >= int64(g.Tasks) {
				return nil, fmt.Errorf("%w daggen file: line %d: the edge from %d to %d isn't between two of %d tasks in order", model.ErrInvalid, line, e[0], e[1], g.Tasks)
			}
		}
		all = append(all, g)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w daggen file: %w", model.ErrInvalid, err)
	}
	return all, nil
}

// daggens keeps the files that were read: an experiment asks for each graph
// many times.
var daggens sync.Map // path to func() ([]Daggen, error)

// loadDaggen reads a file of graphs, once. A name without a folder is looked
// for in the folder dags of the data sets, too (see DataFolder). The name drawnDaggen
// is no file's.
func loadDaggen(path string) ([]daggen, error) {
	if path == drawnDaggen {
		return daggen1296(), nil
	}
	file := path
	if _, err := os.Stat(path); err != nil {
		if file = inDataSets("dags", path, ""); file == "" {
			return nil, fmt.Errorf("%w%s", unreadable(path, err), whereToGet("dags", path))
		}
	}
	load, _ := daggens.LoadOrStore(file, sync.OnceValues(func() ([]daggen, error) {
		data, err := ReadFile(file)
		if err != nil {
			return nil, err
		}
		all, err := readDaggen(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return all, nil
	}))
	return load.(func() ([]daggen, error))()
}

// drawnDaggen names the set of 1,296 graphs that is drawn here and not read, with its
// method and its seeds (docs/how-to/data-sets.md). A file of the same graphs is
// daggen-1296.jsonl.
const drawnDaggen = "daggen-1296"

// daggen1296 draws the 1,296 graphs: each combination of the parameters twelve times, the
// last one changing first. The seed of graph k is 1,000,000 + k.
var daggen1296 = sync.OnceValue(func() (all []daggen) {
	for _, n := range []int{10, 20, 50} {
		for _, fat := range []float64{0.1, 0.2, 0.8} {
			for _, density := range []float64{0.2, 0.8} {
				for _, regular := range []float64{0.2, 0.8} {
					for _, jump := range []int{1, 2, 4} {
						for range 12 {
							g := daggen{Tasks: n, Fat: fat, Density: density, Regular: regular, Jump: jump}
							g.draw(uint32(1_000_000 + len(all)))
							all = append(all, g)
						}
					}
				}
			}
		}
	}
	return all
})

// draw draws the edges by the method of daggen (F. Suter, S. Hunold; commit b981d0e368), so that the same seed of the C
// library's rand gives the same graph. Levels are drawn first, then five figures of each task, then the parents of each
// task. Only the matrix size among the figures counts here.
func (g *daggen) draw(seed uint32) {
	r := newGlibcRand(seed)
	width := math.Floor(math.Exp(g.Fat * math.Log(float64(g.Tasks))))
	spread := 100 - 100*g.Regular
	var levels [][]int // the tasks of each
	for n := 0; n < g.Tasks; {
		// Conversions keep a compiler from fusing a product and a sum.
		x := -spread + float64(2*spread*r.next()/(1<<31))
		tasks := min(max(1, int(width*(1+x/100))), g.Tasks-n)
		level := make([]int, tasks)
		for k := range level {
			level[k] = n + k
		}
		levels, n = append(levels, level), n+tasks
	}
	bytes := make([]int64, g.Tasks)
	for t := range bytes {
		side := int64(r.between(2048, 11264)) / 1024 * 1024
		bytes[t] = 8 * side * side
		r.next() // the factor of its cost
		r.next() // its complexity
		r.next() // its sequential share
	}
	children := make([][]int, g.Tasks)
	for i := 1; i < len(levels); i++ {
		before := len(levels[i-1])
		for _, t := range levels[i] {
			// Draw again if that is below the level's width: daggen's minimum is a macro,
			// which draws twice.
			parents := 1 + int(r.between(0, g.Density*float64(before)))
			if parents < before {
				parents = 1 + int(r.between(0, g.Density*float64(before)))
			} else {
				parents = before
			}
			for range parents {
				level := levels[max(0, i-int(r.between(1, float64(g.Jump)+1)))]
				at := int(r.between(0, float64(len(level))))
				if at = freeParent(level, at, t, children); at >= 0 {
					children[level[at]] = append(children[level[at]], t)
				}
			}
		}
	}
	g.Edges = [][3]int64{}
	for t, all := range children {
		seen := map[int]bool{}
		for _, c := range all {
			if !seen[c] {
				seen[c] = true
				g.Edges = append(g.Edges, [3]int64{int64(t), int64(c), bytes[t]})
			}
		}
	}
}

// freeParent returns the first task of a level, from the one at an index on, that isn't a parent of t, -1 if there is
// none. As in daggen, a task is taken untested if the last one had t as its child just where this one's children end:
// so an edge may be drawn twice.
func freeParent(level []int, at, t int, children [][]int) int {
	for range level {
		k := 0
		for k < len(children[level[at]]) && children[level[at]][k] != t {
			k++
		}
		if k < len(children[level[at]]) {
			at = (at + 1) % len(level)
		}
		if k == len(children[level[at]]) {
			return at
		}
	}
	return -1
}

// glibcRand is rand of the GNU C library, additive feedback of degree 31.
type glibcRand struct {
	state [34]uint32
	at    int
}

func newGlibcRand(seed uint32) *glibcRand {
	r := &glibcRand{}
	x := int64(max(1, seed))
	for k := range 31 {
		r.state[k] = uint32(x)
		x = 16807 * x % 2147483647
	}
	copy(r.state[31:], r.state[:3])
	r.at = 0
	for range 310 {
		r.next()
	}
	return r
}

// next returns a whole number from 0 to 2^31 - 1.
func (r *glibcRand) next() float64 {
	// state holds the last 34 values in a ring, with the oldest at the index at.
	n := len(r.state)
	x := r.state[(r.at+n-31)%n] + r.state[(r.at+n-3)%n]
	r.state[r.at] = x
	r.at = (r.at + 1) % n
	return float64(x >> 1)
}

// between returns a number from x to below y.
func (r *glibcRand) between(x, y float64) float64 { return x + float64((y-x)*r.next()/(1<<31)) }
