// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// classes reports which colours of shares the picture of the moment has.
func (l *clusters) classes() (seen [len(theme.Shares)]bool) {
	if l.tree.K > mostPods {
		seen[0] = true // matrices lie on it
		for _, m := range l.matrices() {
			for pod := range l.tree.K {
				for row := range l.tree.Half() {
					seen[heatOf(m.share(pod, row))] = true
				}
			}
		}
		return seen
	}
	for layer, shares := range l.share {
		for _, share := range shares {
			seen[heatOf(share)] = seen[heatOf(share)] || l.binds(layer)
		}
	}
	return seen
}

// binds reports whether a layer of links binds.
func (l *clusters) binds(layer int) bool {
	return layer == scene.ServerLinks || l.tree.EffectiveFabric() == model.FabricOnePath
}

// paintTree draws every switch, link, server and slot.
func (l *clusters) paintTree(p pen, top, high float64) {
	h, n := l.tree.Half(), l.tree.Servers()
	// Servers of an edge switch are drawn together, as are the edge switches of a pod.
	const edgeGap, podGap = 0.4, 1.2
	step := (l.right - l.left) / (float64(n) + edgeGap*float64(n/h-l.tree.K) + podGap*float64(l.tree.K-1))
	serverX := func(s int) float64 {
		pod, edge := s/(h*h), s/h
		return l.left + step*(float64(s)+0.5+edgeGap*float64(edge-pod)+podGap*float64(pod))
	}
	edgeX := func(e int) float64 { return (serverX(e*h) + serverX(e*h+h-1)) / 2 }
	aggregationX := func(a int) float64 { return edgeX(a) } // number a%h of pod a/h, as an edge switch
	coreX := func(c int) float64 { return l.left + (l.right-l.left)*(float64(c)+0.5)/float64(h*h) }
	layers := []float64{top + 5, top + high*0.5, top + high*0.86}
	core, aggregation, edges, servers := layers[0], layers[1], layers[2], top+high

	type line struct{ x0, y0, x1, y1 float64 }
	lines := make([][]line, len(theme.Shares))
	var loose []line // links that don't bind
	for layer, shares := range l.share {
		for k, share := range shares {
			var x line
			switch layer {
			case scene.ServerLinks:
				x = line{serverX(k), servers, edgeX(k / h), edges}
			case scene.EdgeLinks:
				x = line{edgeX(k / h), edges, aggregationX(k/(h*h)*h + k%h), aggregation}
			default:
				a := k / h
				x = line{aggregationX(a), aggregation, coreX(a%h*h + k%h), core}
			}
			if !l.binds(layer) {
				loose = append(loose, x)
				continue
			}
			lines[heatOf(share)] = append(lines[heatOf(share)], x)
		}
	}
	for _, x := range loose {
		p.line(looseColour, 0.5, x.x0, x.y0, x.x1, x.y1, 1, 2)
	}
	for class, all := range lines {
		for _, x := range all {
			p.line(linkShade(class), linkWidth(class), x.x0, x.y0, x.x1, x.y1)
		}
	}
	f := newFace(axisSize, false)
	for k, name := range []string{"core", "aggregation", "edge"} {
		p.text(f, paleInk, l.left-8, layers[k]+axisSize*capHeight/2, 1, name)
	}
	p.text(f, paleInk, l.left-8, servers+serverHeight/2, 1, "slots")
	boxes := func(n int, x func(int) float64, y float64) {
		for k := range n {
			p.fill(paleInk, rect{x(k) - 5, y - 3, 10, 6})
		}
	}
	boxes(h*h, coreX, core)
	boxes(n/h, aggregationX, aggregation)
	boxes(n/h, edgeX, edges)
	for s := range n {
		l.paintServer(p, s, rect{serverX(s) - min(0.42*step, 8), servers, min(0.84*step, 16), serverHeight})
	}
	for pod := range l.tree.K {
		p.text(f, paleInk, (serverX(pod*h*h)+serverX((pod+1)*h*h-1))/2, servers+serverHeight+axisSize+3, 0.5,
			fmt.Sprint("pod ", pod))
	}
}

// linkShade returns the colour of a link's share as a line on paper.
func linkShade(class int) theme.Colour {
	if class == 0 {
		return looseColour
	}
	return theme.Shares[class]
}

// looseColour is the colour of links that don't bind.
var looseColour = theme.Mix(theme.Line, theme.Soft, 0.4)

func linkWidth(class int) float64 { return 0.8 + 0.45*float64(class) }

// paintServer draws the slots of a server, from the bottom the ones in use.
func (l *clusters) paintServer(p pen, server int, box rect) {
	high := box.h / float64(l.tree.Slots)
	cells := make([]theme.Colour, 0, l.tree.Slots)
	for _, x := range l.used[server] {
		for range min(x.vms, l.tree.Slots-len(cells)) {
			cells = append(cells, theme.Tint(theme.Plain, x.request))
		}
	}
	p.fill(rowColour, box)
	y := box.y + box.h
	for from := 0; from < len(cells); {
		to := from + 1
		for to < len(cells) && cells[to] == cells[from] {
			to++
		}
		p.fill(cells[from], rect{box.x, y - high*float64(to), box.w, high * float64(to-from)})
		from = to
	}
	if high >= 4 {
		for k := 1; k < l.tree.Slots; k++ {
			p.fill(white, rect{box.x, box.y + high*float64(k) - 0.4, box.w, 0.8})
		}
	}
	p.outline(paleInk, 0.5, box)
}

// matrix shows shares of a large data centre: a column for each pod, a row for each of
// its edge or aggregation switches.
type matrix struct {
	title string
	share func(pod, row int) float64
}

// matrices returns the matrices of the layers that bind.
func (l *clusters) matrices() []matrix {
	h := l.tree.Half()
	fullest := func(layer int, of func(pod, row, i int) int) func(pod, row int) float64 {
		return func(pod, row int) (most float64) {
			for i := range h {
				most = max(most, l.share[layer][of(pod, row, i)])
			}
			return most
		}
	}
	own := func(pod, row, i int) int { return (pod*h+row)*h + i }
	all := []matrix{
		{"slots below edge switches", func(pod, row int) (sum float64) {
			for i := range h {
				sum += float64(l.usedSlots(own(pod, row, i)))
			}
			return sum / float64(h*l.tree.Slots)
		}},
		{"fullest link to a server", fullest(scene.ServerLinks, own)},
		{"fullest link to aggregation", fullest(scene.EdgeLinks, own)},
		{"fullest link to core", fullest(scene.AggregationLinks, own)},
	}
	if !l.binds(scene.EdgeLinks) {
		all = all[:2]
	}
	return all
}

// paintMatrices draws the shares of a large data centre.
func (l *clusters) paintMatrices(p pen, y, high float64) {
	h, k, matrices := l.tree.Half(), l.tree.K, l.matrices()
	f := newFace(axisSize, false)
	const gap = 16.0
	whole := l.right - margin
	wide := (whole - gap*float64(len(matrices)-1)) / float64(len(matrices))
	for i, m := range matrices {
		x := margin + float64(i)*(wide+gap)
		p.text(f, ink, x, y-4, 0, f.shorten(m.title, wide))
		box := rect{x, y, wide, high}
		p.fill(theme.Shares[0], box)
		p.cells(box, h, k, func(row, pod int) float64 { return m.share(pod, h-1-row) })
		p.text(f, paleInk, x, y+high+axisSize+3, 0, "pod 0")
		p.text(f, paleInk, x+wide, y+high+axisSize+3, 1, fmt.Sprint("pod ", k-1))
	}
}
