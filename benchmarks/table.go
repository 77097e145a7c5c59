package benchmarks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/stats"
	"github.com/gapwise/gapwise/internal/words"
	"github.com/gapwise/gapwise/model"
)

// Table holds the cells of a table, as text.
type Table struct {
	Header []string
	Rows   [][]string
	// Groups, if not nil, names the group of each row, those of a group one after the
	// other: a line above the first of each in text, a column in CSV.
	Groups []string
}

// TableOptions choose what a table shows.
type TableOptions struct {
	By         []string // parameters (Params) to group by
	Algorithms []string // labels, in this order; empty: all, in the plan's order
	Columns    []string // of ColumnNames; empty: DefaultColumns or GroupedColumns
	Plain      bool     // times are seconds without unit, for programs to read
	OneUnit    bool     // all times of a column have one unit, named in the header, for papers
}

// group holds the runs of one row: of one algorithm in one group of instances.
type group struct {
	by        []float64
	algorithm string
	runs      []measured
	plain     bool
}

// measured is a record with what all records tell of its instance.
type measured struct {
	*Record
	known *Known
}

// column describes one column; cell computes a cell of it.
type column struct {
	name, help string
	cell       func(g *group) string
}

// columns lists the columns: what all runs have, and the metrics of every problem
// with their confidence intervals.
var columns = sync.OnceValue(func() []column {
	all := slices.Clone(commonColumns)
	for _, m := range metrics() {
		of := func(r measured) float64 { return r.figure(m.Key) }
		mean := "mean " + strings.TrimPrefix(m.Name, "mean ")
		all = append(all,
			column{m.Key, fmt.Sprintf("%s, of %s", mean, joined(m.kinds)), func(g *group) string { return words.Known("%.2f", stat.Mean(g.values(of), nil)) }},
			column{strings.TrimSuffix(m.Key, " %") + " ±", "half-width of the 95 % confidence interval of the " + mean, func(g *group) string { return words.Known("%.2f", g.half(m.Key)) }})
	}
	return all
})

var commonColumns = []column{
	{"runs", "number of runs", func(g *group) string { return strconv.Itoa(len(g.runs)) }},
	{"unsolved %", "runs without a solution as a share of all, those on infeasible instances too", func(g *group) string { return percent(stat.Mean(g.values(measured.unsolved), nil)) }},
	{"infeasible", "instances proved infeasible", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return r.known.Infeasible }))
	}},
	{"failed", "runs without a solution on instances not proved infeasible", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return r.Objective == nil && !r.known.Infeasible }))
	}},
	{"failure %", "failed as a share of the runs on instances not proved infeasible", func(g *group) string {
		n := g.count(func(r measured) bool { return !r.known.Infeasible })
		return percent(float64(g.count(func(r measured) bool { return r.Objective == nil && !r.known.Infeasible })) / float64(n))
	}},
	{"optimal", "runs with a solution within 1e-6 of the best bound proved by any run", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return r.known.Optimal(r.objective()) }))
	}},
	{"verified", "runs whose solution passed the judge", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return r.Verified && r.Sealed }))
	}},
	{"stated", "runs whose solution is only stated, not found by gapwise bench", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return (r.Objective != nil || r.Verified) && !(r.Verified && r.Sealed) }))
	}},
	{"objective", "mean objective", func(g *group) string { return words.Figure(stat.Mean(g.values(measured.objective), nil)) }},
	{"bound", "mean bound that the run itself has", func(g *group) string { return words.Figure(stat.Mean(g.values(measured.bound), nil)) }},
	{"second", "mean second objective", func(g *group) string { return words.Figure(stat.Mean(g.values(measured.second), nil)) }},
	{firstHalf, "half-width of the 95 % confidence interval of the mean objective; of one run by batch means", func(g *group) string { return words.Figure(g.half(objectiveKey)) }},
	{secondHalf, "half-width of the 95 % confidence interval of the mean second objective; of one run by batch means", func(g *group) string { return words.Figure(g.half(secondKey)) }},
	{"planned", "mean makespan that the first plan promised", func(g *group) string {
		return words.Figure(stat.Mean(g.values(func(r measured) float64 { return r.metric("planned") }), nil))
	}},
	{"longer %", "mean objective over the mean planned, less 1", func(g *group) string {
		planned := g.values(func(r measured) float64 { return r.metric("planned") })
		return percent(stat.Mean(g.values(measured.objective), nil)/stat.Mean(planned, nil) - 1)
	}},
	{"rounds", "mean round of the best plan", func(g *group) string {
		return words.Figure(stat.Mean(g.values(func(r measured) float64 { return r.metric("rounds") }), nil))
	}},
	{"embeddable", "mean rejected requests that an embedding existed for (embeddable: yes)", func(g *group) string {
		return words.Known("%.2f", stat.Mean(g.values(func(r measured) float64 { return r.metric("embeddable") }), nil))
	}},
	{"preempted", "of tvc, mean number of preemptions, as the paper counts them", func(g *group) string {
		return words.Known("%.2f", stat.Mean(g.values(func(r measured) float64 { return r.metric("preempted") }), nil))
	}},
	{"gap mean %", "mean gap to the best bound proved by any run, or stated where nothing is proved", func(g *group) string { return percent(stat.Mean(g.values(measured.gap), nil)) }},
	{"gap median %", "median gap to the best bound proved by any run", func(g *group) string { return percent(stats.Quantile(0.5, g.values(measured.gap))) }},
	{"gap p95 %", "95th percentile of the gap to the best bound", func(g *group) string { return percent(stats.Quantile(0.95, g.values(measured.gap))) }},
	{"gap max %", "largest gap to the best bound proved by any run", func(g *group) string { return percent(stats.Largest(g.values(measured.gap))) }},
	{"gap<=1% %", "share of instances closed to 1 % or proved infeasible", func(g *group) string {
		n := g.count(func(r measured) bool { return r.known.Infeasible || r.gap() <= 0.01 })
		return percent(float64(n) / float64(len(g.runs)))
	}},
	{"deg. mean %", "mean degradation from the best objective of the table's algorithms; online policies among themselves", func(g *group) string { return percent(stat.Mean(g.values(measured.degradation), nil)) }},
	{"deg. max %", "largest degradation from the best objective", func(g *group) string { return percent(stats.Largest(g.values(measured.degradation))) }},
	{"deg. all %", "mean degradation of all runs on instances that an algorithm of the table solved; a run without a solution counts as 100 %", func(g *group) string { return percent(stat.Mean(g.values(measured.degradationOfAll), nil)) }},
	{"deg. > 3 %", "runs whose degradation is larger than 3 %", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return r.degradation() > 0.03 }))
	}},
	{"deg. > 10 %", "runs whose degradation is larger than 10 %", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return r.degradation() > 0.1 }))
	}},
	{"time mean", "mean time of a run", func(g *group) string { return g.seconds(stat.Mean(g.values(measured.elapsed), nil)) }},
	{"time geo.", "shifted geometric mean of the times, with a shift of 1 s", func(g *group) string { return g.seconds(stats.Shifted(g.values(measured.elapsed), 1)) }},
	{"time max", "longest time of a run", func(g *group) string { return g.seconds(stats.Largest(g.values(measured.elapsed))) }},
	{"time sum", "time of all runs together", func(g *group) string {
		sum := 0.0
		for _, r := range g.runs {
			sum += r.ElapsedS
		}
		return g.seconds(sum)
	}},
	{"nodes mean", "mean nodes of a run", func(g *group) string {
		return words.Figure(stat.Mean(g.values(func(r measured) float64 { return float64(r.Nodes) }), nil))
	}},
	{"nodes geo.", "shifted geometric mean of the nodes, with a shift of 100", func(g *group) string {
		return words.Figure(stats.Shifted(g.values(func(r measured) float64 { return float64(r.Nodes) }), 100))
	}},
	{"best", "runs that no other algorithm of the table beats on the instance; online policies among themselves", func(g *group) string {
		return strconv.Itoa(g.count(func(r measured) bool { return r.degradation() <= tieWithin || r.objective() == r.best() }))
	}},
}

// DefaultColumns fit in 80 characters, GroupedColumns with two parameters.
var (
	DefaultColumns = []string{"verified", "failed", "gap mean %", "gap max %", "deg. mean %", "time mean"}
	GroupedColumns = []string{"objective", "failed", "gap mean %", "deg. mean %", "time mean"}
)

// ColumnNames returns the columns, each with its description.
func ColumnNames() [][2]string {
	var all [][2]string
	for _, c := range columns() {
		all = append(all, [2]string{c.name, c.help})
	}
	return all
}

func (r measured) objective() float64 {
	if r.Objective == nil {
		return math.NaN()
	}
	return *r.Objective
}

func (r measured) second() float64 {
	if r.Second == nil {
		return math.NaN()
	}
	return *r.Second
}

// metric returns one of the run's further metrics, NaN without it.
func (r measured) metric(key string) float64 {
	if x, ok := r.Metrics[key]; ok {
		return x
	}
	return math.NaN()
}

// figure returns one of the run's metrics, its objectives included; NaN without
// it.
func (r measured) figure(key string) float64 {
	switch metrics := r.metrics(); key {
	case objectiveKey, metrics[0].Key:
		return r.objective()
	case secondKey, metrics[1].Key:
		return r.second()
	}
	return r.metric(key)
}

// half returns the half-width of the confidence interval by batch means of one of the
// run's values, NaN without it.
func (r measured) half(key string) float64 {
	switch metrics := r.metrics(); key {
	case objectiveKey, metrics[0].Key:
		return r.metric(firstHalf)
	case secondKey, metrics[1].Key:
		return r.metric(secondHalf)
	}
	return math.NaN()
}

func (r measured) elapsed() float64 { return r.ElapsedS }

// failure returns 100 if the run has no solution, 0 if it has one, NaN if the
// instance is proved infeasible.
func (r measured) failure() float64 {
	switch {
	case r.known.Infeasible:
		return math.NaN()
	case r.Objective == nil:
		return 100
	}
	return 0
}

// gap returns the gap to the best bound that any run has.
func (r measured) gap() float64 { return r.known.Gap(r.objective()) }

// best returns the best objective of those that the run is compared with.
func (r measured) best() float64 { return r.known.BestOf(r.Class()) }

// degradation returns the distance to the best objective as a share of it
// (VCSched paper, section 4.2.1).
func (r measured) degradation() float64 {
	best := r.best()
	if best == 0 {
		return math.NaN()
	}
	return math.Abs(r.objective()-best) / math.Abs(best)
}

// degradationOfAll is degradation; a run without a solution degrades by 1, as the VCSched
// paper counts "over all instances". NaN where no algorithm has a solution.
func (r measured) degradationOfAll() float64 {
	if r.Objective == nil && !math.IsNaN(r.best()) {
		return 1
	}
	return r.degradation()
}

// unsolved is 1 for a run without a solution, 0 otherwise.
func (r measured) unsolved() float64 {
	if r.Objective == nil {
		return 1
	}
	return 0
}

// bound returns the bound that the run itself has.
func (r measured) bound() float64 {
	if r.Bound == nil {
		return math.NaN()
	}
	return *r.Bound
}

func (g *group) count(f func(measured) bool) int {
	n := 0
	for _, r := range g.runs {
		if f(r) {
			n++
		}
	}
	return n
}

// values returns f of the runs where it isn't NaN.
func (g *group) values(f func(measured) float64) []float64 {
	var all []float64
	for _, r := range g.runs {
		if x := f(r); !math.IsNaN(x) {
			all = append(all, x)
		}
	}
	return all
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(100*x, 'f', 3, 64)
}

// half returns the half-width of the confidence interval of the mean of a value, NaN
// where there is none. That of a single run is in its record.
func (g *group) half(key string) float64 {
	all := g.values(func(r measured) float64 { return r.figure(key) })
	switch len(all) {
	case 0:
		return math.NaN()
	case 1:
		k := slices.IndexFunc(g.runs, func(r measured) bool { return !math.IsNaN(r.figure(key)) })
		return g.runs[k].half(key)
	}
	_, half := interval(all)
	return half
}

func (g *group) seconds(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case g.plain:
		return strconv.FormatFloat(x, 'g', 6, 64)
	case x < 1e-3:
		return fmt.Sprintf("%.3g us", x*1e6)
	case x < 1:
		return fmt.Sprintf("%.3g ms", x*1e3)
	}
	return fmt.Sprintf("%.4g s", x)
}

// Tabulate makes a table of records, with a row for each algorithm in each group.
// Means are over the runs with a solution, but for "deg. all %"; failures have their
// own columns. The order of the records doesn't matter.
func Tabulate(records []Record, o TableOptions) (Table, error) {
	var t Table
	bad := func(format string, args ...any) (Table, error) {
		return t, fmt.Errorf("%w table: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	records, _, err := Merge(records)
	if err != nil {
		return t, err
	}
	order, err := algorithmsOf(records, o.Algorithms)
	if err != nil {
		return bad("%v", err)
	}
	instances := Learn(records, order)
	groups := map[string]*group{}
	for i := range records {
		r := &records[i]
		if !slices.Contains(order, r.Algorithm) {
			continue
		}
		by, err := parameters(r, o.By)
		if err != nil {
			return bad("%v", err)
		}
		key := fmt.Sprint(by, r.Algorithm)
		if groups[key] == nil {
			groups[key] = &group{by: by, algorithm: r.Algorithm, plain: o.Plain || o.OneUnit}
		}
		groups[key].runs = append(groups[key].runs, measured{r, instances[r.Hash]})
	}
	var rows []*group
	for _, g := range groups {
		// Sums of floating-point numbers depend on their order.
		slices.SortFunc(g.runs, func(a, b measured) int {
			return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Seed, b.Seed))
		})
		rows = append(rows, g)
	}
	class := classes(records, order)
	slices.SortFunc(rows, func(a, b *group) int {
		return cmp.Or(cmp.Compare(slices.Index(model.Classes(), class[a.algorithm]), slices.Index(model.Classes(), class[b.algorithm])), slices.Compare(a.by, b.by), cmp.Compare(slices.Index(order, a.algorithm), slices.Index(order, b.algorithm)))
	})
	names := o.Columns
	switch {
	case len(names) > 0:
	case len(o.By) > 0:
		names = GroupedColumns
	default:
		names = DefaultColumns
	}
	t.Header = append(slices.Clone(o.By), "algorithm")
	var show []column
	for _, n := range names {
		n = ValueFor(n, records)
		k := slices.IndexFunc(columns(), func(c column) bool { return c.name == n })
		if k < 0 {
			return bad("there is no column %q; see gapwise table --help", n)
		}
		show = append(show, columns()[k])
		if o.Plain && strings.HasPrefix(n, "time") {
			n += " s"
		}
		if m := objectiveOf(records); n == objectiveKey && !o.Plain && m != nil {
			n = m.Key // by its name, with its unit
			if m.Unit != "" {
				n += " (" + m.Unit + ")"
			}
		}
		t.Header = append(t.Header, n)
	}
	for _, g := range rows {
		t.Groups = append(t.Groups, GroupOf(class[g.algorithm]))
		var row []string
		for _, v := range g.by {
			row = append(row, words.Figure(v))
		}
		row = append(row, g.algorithm)
		for _, c := range show {
			row = append(row, c.cell(g))
		}
		t.Rows = append(t.Rows, row)
	}
	for k, name := range t.Header {
		if o.OneUnit && strings.HasPrefix(name, "time ") {
			t.oneUnit(k)
		}
	}
	t.Calm()
	return t, nil
}

// oneUnit rewrites a column of seconds in the unit that suits its median, with three
// significant digits of each at least, and names the unit in the header.
func (t *Table) oneUnit(column int) {
	var all []float64
	for _, r := range t.Rows {
		if x, err := strconv.ParseFloat(r[column], 64); err == nil {
			all = append(all, x)
		}
	}
	name, unit := "s", 1.0
	middle := stats.Quantile(0.5, all)
	switch {
	case middle < 1e-3:
		name, unit = "µs", 1e-6
	case middle < 1:
		name, unit = "ms", 1e-3
	}
	decimals := 0
	if middle > 0 {
		decimals = max(0, 2-int(math.Floor(math.Log10(middle/unit))))
	}
	t.Header[column] += " (" + name + ")"
	for _, r := range t.Rows {
		if x, err := strconv.ParseFloat(r[column], 64); err == nil {
			digits := decimals // more for what is much shorter than the median
			if x > 0 {
				digits = max(digits, 2-int(math.Floor(math.Log10(x/unit))))
			}
			r[column] = strconv.FormatFloat(x/unit, 'f', digits, 64)
		}
	}
}

// algorithmsOf returns the labels wanted or, if none is, all: in the order of the
// plan, as far as records tell it (they do so since 0.9.0), the others after them
// in alphabetical order.
func algorithmsOf(records []Record, wanted []string) ([]string, error) {
	if len(records) == 0 {
		return nil, errors.New("there are no results")
	}
	first := map[string]int{} // number of a label's first run in its plan
	var all []string          // by appearance
	for i := range records {
		r := &records[i]
		n, here := first[r.Algorithm]
		if !here {
			all = append(all, r.Algorithm)
			n = math.MaxInt
		}
		if r.Run > 0 {
			n = min(n, r.Run)
		}
		first[r.Algorithm] = n
	}
	if len(wanted) == 0 {
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(first[a], first[b]), cmp.Compare(a, b)) })
		return all, nil
	}
	for _, a := range wanted {
		if !slices.Contains(all, a) {
			return nil, fmt.Errorf("no run is by %q, there are %s", a, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}

// classes returns the class of each algorithm; all the same if a name stands for
// algorithms of several problems that differ.
func classes(records []Record, algorithms []string) map[string]model.Class {
	all := map[string]model.Class{}
	for i := range records {
		r := &records[i]
		if c, ok := all[r.Algorithm]; ok && c != r.Class() {
			all[r.Algorithm] = model.Offline
		} else {
			all[r.Algorithm] = r.Class()
		}
	}
	return all
}

// GroupOf names a class of algorithms as a group of a table's rows, and says what it
// knows.
func GroupOf(c model.Class) string { return c.Plural() + ": " + c.Meaning() }

// Calm leaves the groups out where all rows are of one.
func (t *Table) Calm() {
	if len(slices.Compact(slices.Clone(t.Groups))) < 2 {
		t.Groups = nil
	}
}

// objectiveOf returns the objective of all records, nil if they have several.
func objectiveOf(records []Record) *model.Metric {
	var one *model.Metric
	for i := range records {
		m := records[i].metrics()[0]
		if one != nil && *one != m {
			return nil
		}
		one = &m
	}
	return one
}

// ValueFor returns the value or column that a name means for some records: what is
// optimised has its own name there, like response or makespan, and is the objective.
func ValueFor(name string, records []Record) string {
	if m := objectiveOf(records); m != nil && m.Key == name {
		return objectiveKey
	}
	return name
}

// Shorten cuts a text to n letters, in its middle: names differ at their ends.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}
