// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// VBP is an instance of vector bin packing: items of several dimensions for as few
// equal bins as possible.
type VBP struct {
	Capacity []int64 // of a bin, by dimension
	Items    []vbpItem
}

// vbpItem is a number of equal items.
type vbpItem struct {
	Size  []int64 // by dimension
	Count int64
}

// Bounds of a VBP file. Sizes are far enough from each other, as shares of a bin, for
// view.FitTolerance: a sum that is too large by one is so by 1e-8 of a bin.
const (
	maxVBPCapacity = 100_000_000
	maxVBPTasks    = 1_000_000
	maxVBPHosts    = 1_000_000
)

// ReadVBP reads the format of VPSolver (Brandão, Pedroso: Bin packing and related problems: general arc-flow
// formulation with graph compression, 2016). It has whole numbers in free format. They are the number d of dimensions;
// d capacities; the number of lines to come; in each d sizes and how many such items there are. Its options ($VTYPE{…})
// are refused. Errors wrap model.ErrInvalid.
func ReadVBP(data []byte) (VBP, error) {
	r := vbpReader{format: formatVBP, words: bytes.Fields(data)}
	d := r.next("the number of dimensions", 1, 65)
	v := VBP{}
	for k := range d {
		v.Capacity = append(v.Capacity, r.next(fmt.Sprintf("capacity %d", k+1), 0, maxVBPCapacity))
	}
	for i := range r.next("the number of items", 1, maxVBPTasks) {
		if r.err != nil {
			break
		}
		it := vbpItem{Size: make([]int64, d)}
		for k := range it.Size {
			it.Size[k] = r.next(fmt.Sprintf("size %d of item %d", k+1, i+1), 0, v.Capacity[k])
		}
		if it.Count = r.next(fmt.Sprintf("the count of item %d", i+1), 0, maxVBPTasks); it.Count > 0 {
			v.Items = append(v.Items, it)
		}
		r.add(it, i)
	}
	if err := r.end(); err != nil {
		return VBP{}, err
	}
	return v, nil
}

type vbpReader struct {
	format string
	words  [][]byte
	at     int
	tasks  int64 // of the items that were added
	err    error // the first
}

func (r *vbpReader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w %s file: %s", model.ErrInvalid, r.format, fmt.Sprintf(format, args...))
	}
}

// next returns the next number, which must be in the range, or 0 after an error.
func (r *vbpReader) next(what string, least, most int64) int64 {
	switch {
	case r.err != nil:
		return 0
	case r.at == len(r.words):
		r.failf("it ends before %s", what)
		return 0
	}
	x, err := strconv.ParseInt(string(r.words[r.at]), 10, 64)
	if err != nil || x < least || x > most {
		r.failf("%s is %.20q, must be a whole number from %d to %d", what, r.words[r.at], least, most)
		return 0
	}
	r.at++
	return x
}

// add counts the items of line i, from 0.
func (r *vbpReader) add(it vbpItem, i int64) {
	if it.Count > 0 && !slices.ContainsFunc(it.Size, func(x int64) bool { return x > 0 }) {
		r.failf("item %d has no size", i+1)
	}
	if r.tasks += it.Count; r.tasks > maxVBPTasks {
		r.failf("it has more than %d items", maxVBPTasks)
	}
}

// end returns the first error; after the last item there may be nothing.
func (r *vbpReader) end() error {
	if r.err == nil && r.at < len(r.words) {
		r.failf("%.20q follows the last item; options aren't read", r.words[r.at])
	}
	if r.tasks == 0 {
		r.failf("it has no items")
	}
	return r.err
}

// firstFitWindow is the number of bins, counted from the last, that FirstFit looks at.
const firstFitWindow = 200

// FirstFit returns a number of bins in which the items fit, by first fit. It takes items in the order of decreasing
// sums of their sizes, as shares of the capacity. Each goes into the first of the last firstFitWindow bins that has
// room. O(items × dimensions × firstFitWindow).
func (v VBP) FirstFit() int {
	share := func(it vbpItem) (sum float64) {
		for k, x := range it.Size {
			if x > 0 {
				sum += float64(x) / float64(v.Capacity[k])
			}
		}
		return sum
	}
	items := slices.Clone(v.Items)
	order.Stable(items, func(a, b vbpItem) int { return cmp.Compare(share(b), share(a)) })
	bins := 0
	var left [][]int64 // of the last bins
	for _, it := range items {
		// take puts as many of the item as fit, and at most n, into a bin.
		take := func(n int64, bin []int64) int64 {
			for k, x := range it.Size {
				if x > 0 {
					n = min(n, bin[k]/x)
				}
			}
			for k, x := range it.Size {
				bin[k] -= n * x
			}
			return n
		}
		n := it.Count
		for b := 0; n > 0 && b < len(left); b++ {
			n -= take(n, left[b])
		}
		for n > 0 {
			bin := slices.Clone(v.Capacity)
			n -= max(1, take(n, bin)) // 1: larger than a bin, which Place refuses
			bins++
			if left = append(left, bin); len(left) > firstFitWindow {
				left = left[1:]
			}
		}
	}
	return bins
}

// Place makes an instance of the question whether the items fit in so many bins. Each bin is a host, each line of items
// a job of equal tasks that need no CPU. Memory is the first dimension, and the others are resources d2, d3, …; sizes
// become shares of the capacity. So a placement has the yield 1, and without one the items need more bins.
func (v VBP) Place(name string, hosts int) (*model.VCSched, error) {
	if err := checkVBPHosts(hosts); err != nil {
		return nil, err
	}
	in := &model.VCSched{Name: name, Hosts: hosts}
	for k := range v.Capacity[1:] {
		in.Resources = append(in.Resources, fmt.Sprintf("d%d", k+2))
	}
	for i, it := range v.Items {
		j := model.VCSchedJob{ID: fmt.Sprintf("item%d", i+1), Tasks: int(it.Count)}
		for k, x := range it.Size {
			share := 0.0
			if x > 0 {
				share = float64(x) / float64(v.Capacity[k])
			}
			if k == 0 {
				j.Memory = share
			} else {
				j.Resources = append(j.Resources, share)
			}
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in, in.Validate()
}

func checkVBPHosts(hosts int) error {
	if hosts < 1 || hosts > maxVBPHosts {
		return fmt.Errorf("%w number of hosts: %d, must be from 1 to %d", model.ErrInvalid, hosts, maxVBPHosts)
	}
	return nil
}

// consolidate makes an instance with that many hosts, each a bin at the price 1, so that the least cost is the least number
// of bins if there are enough hosts. Each line of items is a job, and the resources are d1, d2, …
func (v VBP) consolidate(name string, hosts int) (*model.Consolidation, error) {
	if err := checkVBPHosts(hosts); err != nil {
		return nil, err
	}
	in := consolidationOf(name, v.Capacity, v.Items)
	in.PriceUnit = "bins"
	for h := range hosts {
		in.Hosts = append(in.Hosts, model.ConsolidationHost{ID: fmt.Sprintf("host%d", h+1), Capacity: v.Capacity, Price: 1})
	}
	return in, in.Validate()
}

// consolidationOf returns an instance without hosts, with a resource for each dimension and a job for each line of
// items.
func consolidationOf(name string, dimensions []int64, items []vbpItem) *model.Consolidation {
	in := &model.Consolidation{Name: name}
	for k := range dimensions {
		in.Resources = append(in.Resources, fmt.Sprintf("d%d", k+1))
	}
	for i, it := range items {
		if it.Count > 0 {
			in.Jobs = append(in.Jobs, model.ConsolidationJob{ID: fmt.Sprintf("item%d", i+1), Tasks: int(it.Count), Needs: it.Size})
		}
	}
	return in
}

// isVBP reports whether the text has as many whole numbers as a VBP file that begins like it. A file in the STG format
// has so many only by accident.
func isVBP(data []byte) bool {
	if data = bytes.TrimSpace(data); len(data) == 0 || !isDigit(data[0]) {
		return false
	}
	words := bytes.Fields(data)
	d := countAt(words, 0)
	if d < 1 || d > 65 {
		return false
	}
	n := countAt(words, d+1)
	return n >= 1 && int64(len(words)) == d+2+n*(d+1)
}

// countAt returns a whole number among words, -1 if there is none.
func countAt(words [][]byte, k int64) int64 {
	if k < 0 || k >= int64(len(words)) {
		return -1
	}
	x, err := strconv.ParseInt(string(words[k]), 10, 32)
	if err != nil {
		return -1
	}
	return x
}

// ofList returns the VBP text of a plain list of items of one dimension, nil for other texts. Its lines are the number of
// items, the capacity, and the size of each (bin packing), or each size and how many such items there are (cutting stock).
func ofList(data []byte) []byte {
	if data = bytes.TrimSpace(data); len(data) == 0 || !isDigit(data[0]) {
		return nil
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(first)))
	if err != nil || n < 1 || bytes.Count(rest, []byte("\n")) != n {
		return nil
	}
	lines := bytes.Split(rest, []byte("\n"))
	text := fmt.Appendf(nil, "1 %s %d", lines[0], n)
	numbers := len(bytes.Fields(lines[1]))
	for k, line := range lines[1:] {
		if words := len(bytes.Fields(line)); k == 0 && len(bytes.Fields(lines[0])) != 1 || words != numbers || words > 2 {
			return nil
		}
		if text = fmt.Appendf(text, " %s", line); numbers == 1 {
			text = append(text, " 1"...)
		}
	}
	return text
}

// platformBins is the platform that has a VBP file become the question for the least number of bins, with room for any
// heuristic: as many bins as items, of which there are maxBins at most.
const platformBins, maxBins = "bins", 10_000

// loadVBP makes an instance of a VBP file or a plain list for a platform, "hosts=N", platformBins or "".
func loadVBP(f *File, o Options) (model.Instance, error) {
	platform, kind := o.Platform, o.Kind
	text, list := f.data, ofList(f.data)
	if list != nil {
		text = list
	}
	v, err := ReadVBP(text)
	if err != nil {
		return nil, err
	}
	tasks := int64(0)
	for _, it := range v.Items {
		tasks += it.Count
	}
	bins := platform == platformBins
	switch {
	case bins && kind != "" && kind != model.KindConsolidation:
		return nil, fmt.Errorf("%w platform %q: the least number of bins is a question of %s", model.ErrInvalid, platform, model.KindConsolidation)
	case bins && tasks > maxBins && !o.IfNeeded:
		return nil, fmt.Errorf("%w platform %q: it is for at most %s items, there are %s; gapwise convert --kind consolidation --hosts N makes an instance with fewer bins",
			model.ErrInvalid, platform, words.Thousands(maxBins), words.Thousands(tasks))
	case bins && tasks > maxBins:
		platform, bins = "", false
	case bins:
		kind = model.KindConsolidation
	}
	hosts := int(tasks)
	if !bins {
		hosts = v.FirstFit()
	}
	if platform != "" && !bins {
		n, ok := strings.CutPrefix(platform, "hosts=")
		if hosts, err = strconv.Atoi(n); !ok || err != nil {
			return nil, fmt.Errorf("%w platform %q for a VBP file: give hosts=N or bins", model.ErrInvalid, platform)
		}
	}
	var in model.Instance
	switch kind {
	case model.KindVCSched, "":
		in, err = v.Place(f.name, hosts)
	case model.KindConsolidation:
		in, err = v.consolidate(f.name, hosts)
	default:
		err = fmt.Errorf("%w kind %q: items and bins become one of %s and %s", model.ErrInvalid, kind, model.KindVCSched, model.KindConsolidation)
	}
	if err != nil {
		return nil, err
	}
	f.account.Took(float64(tasks), "items")
	f.account.Took(float64(len(v.Capacity)), "dimensions")
	if list != nil {
		f.account.Files[0].Format = "bin packing"
		f.account.Assumed.Say("the lines are the number of items, the capacity, and sizes, of one dimension")
	}
	if bins {
		f.account.Assumed.Say("%s bins of price 1, one for each item: the cost is the number of bins in use; other commands read the file in this way by --platform %s",
			words.Thousands(tasks), platformBins)
	}
	if platform == "" {
		f.account.Assumed.Say("%s hosts, enough by first fit; another number by --platform hosts=N, the least by gapwise solve --least-hosts", words.Thousands(int64(hosts)))
	}
	model.SetAccount(in, f.account)
	return in, nil
}
