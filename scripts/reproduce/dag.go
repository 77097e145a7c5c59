package main

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/papers"
	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/model"
)

// dagSetting holds the runs of dag-1296 on one platform under one transfer model:
// HEFT and the network-aware HEFT on each graph and draw of costs.
type dagSetting struct {
	Title, File, Pattern string
	runs                 []dagRun
}

// dagRun is HEFT and its rounds on one instance: makespans in seconds.
type dagRun struct {
	params                          map[string]float64
	third                           int // of the graphs at a grid point: 1 to 3
	planned, stretched, best, round float64
}

var daggenName = regexp.MustCompile(`-d([0-9]+)-m[0-9]`)

// dagSettings reads the parts of the results, given as name and pattern of the
// instances' names in turn.
func dagSettings(file string, parts ...string) (all []dagSetting, err error) {
	records, _, err := runs.ReadRecords(file)
	if err != nil {
		return nil, err
	}
	for k := 0; k+1 < len(parts); k += 2 {
		pattern, err := regexp.Compile(parts[k+1])
		if err != nil {
			return nil, err
		}
		s := dagSetting{Title: parts[k], File: file, Pattern: parts[k+1]}
		index := map[string]int{}
		for _, r := range records {
			if r.Algorithm == "improve" || r.Objective == nil || !pattern.MatchString(r.Instance) {
				continue
			}
			i, ok := index[r.Hash]
			if !ok {
				m := daggenName.FindStringSubmatch(r.Instance)
				if m == nil {
					return nil, fmt.Errorf("%s: %s is no graph of a daggen file", file, r.Instance)
				}
				graph, err := strconv.Atoi(m[1])
				if err != nil {
					return nil, err
				}
				i = len(s.runs)
				index[r.Hash] = i
				s.runs = append(s.runs, dagRun{params: r.Params, third: 1 + graph%12/4})
			}
			if r.Algorithm == "heft" {
				s.runs[i].planned, s.runs[i].stretched = r.Metrics["planned"], *r.Objective
			} else {
				s.runs[i].best, s.runs[i].round = *r.Objective, r.Metrics["rounds"]
			}
		}
		if len(s.runs) == 0 {
			return nil, fmt.Errorf("%s has no instance %s", file, parts[k+1])
		}
		all = append(all, s)
	}
	return all, nil
}

// dagMeans holds means over instances: makespans in seconds, and the round of the
// best.
type dagMeans struct {
	Runs                            int
	Planned, Stretched, Best, Round float64
}

// Increase returns by how many percent contention lengthens HEFT's plans.
func (m dagMeans) Increase() float64 { return 100 * (m.Stretched/m.Planned - 1) }

// Decrease returns by how many percent the rounds shorten what HEFT realises.
func (m dagMeans) Decrease() float64 { return 100 * (1 - m.Best/m.Stretched) }

// All returns the means over all instances.
func (s dagSetting) All() dagMeans { return s.where(func(dagRun) bool { return true }) }

// At returns the means over the instances with a value of a parameter. A jump J.K
// is jump J and the first, second or third third of its graphs, K being 1, 2 or 4.
func (s dagSetting) At(parameter, value string) dagMeans {
	third := 0
	if parameter == "jump" {
		jump, part, found := strings.Cut(value, ".")
		if value = jump; found {
			third = map[string]int{"1": 1, "2": 2, "4": 3}[part]
		}
	}
	x := number(value)
	return s.where(func(r dagRun) bool { return r.params[parameter] == x && (third == 0 || r.third == third) })
}

func (s dagSetting) where(has func(dagRun) bool) (m dagMeans) {
	for _, r := range s.runs {
		if has(r) {
			m.Runs++
			m.Planned, m.Stretched, m.Best, m.Round = m.Planned+r.planned, m.Stretched+r.stretched, m.Best+r.best, m.Round+r.round
		}
	}
	n := float64(m.Runs)
	m.Planned, m.Stretched, m.Best, m.Round = m.Planned/n, m.Stretched/n, m.Best/n, m.Round/n
	return m
}

// dagSplit is one of the paper's Tables 4 to 8.
type dagSplit struct {
	Table, Figure int
	Parameter     string
	Rows          []dagPrinted
}

// dagPrinted is a column of it: increase by contention and decrease by the better
// plan, in percent, and the round.
type dagPrinted struct {
	Value                     string
	Increase, Decrease, Round float64
}

// dagSplits returns the paper's tables.
func dagSplits() (all []dagSplit) {
	for k, parameter := range []string{"tasks", "fat", "regular", "density", "jump"} {
		rows, err := printedTable("dag", parameter)
		if err != nil {
			panic(err)
		}
		s := dagSplit{Table: 4 + k, Figure: 12 + k, Parameter: parameter}
		for _, f := range rows {
			s.Rows = append(s.Rows, dagPrinted{f[0], number(f[1]), number(f[2]), number(f[3])})
		}
		all = append(all, s)
	}
	return all
}

// met says whether a figure of ours, rounded as the printed one is, equals it.
func met(printed string, ours any) (string, error) {
	x, err := strconv.ParseFloat(fmt.Sprint(ours), 64)
	if err != nil {
		return "", err
	}
	_, decimals, _ := strings.Cut(printed, ".")
	if strconv.FormatFloat(x, 'f', len(decimals), 64) == printed {
		return "met", nil
	}
	return "not met", nil
}

// tenReading is a reading of the platform for the paper's ten tasks.
type tenReading struct {
	Name string
	result
}

// Stretched returns the makespan of HEFT's plan under contention, the first round's.
func (x tenReading) Stretched() string { return short(x.Trace[0].Realistic.String()) }

// off returns by how many seconds both makespans are off the printed ones.
func (x tenReading) off() float64 {
	return math.Abs(number(x.Trace[0].Realistic.String())-paperDAG("ten stretched")) + math.Abs(number(x.Objective.String())-paperDAG("ten best"))
}

// paperDAG returns a figure that the paper on task graphs prints.
func paperDAG(name string) float64 {
	f, err := papers.Printed(model.KindDAG, name)
	if err != nil {
		panic(err)
	}
	return f.Value
}

// nearestTen returns the reading that is least off.
func nearestTen(all []tenReading) tenReading {
	return slices.MinFunc(all, func(a, b tenReading) int { return cmp.Compare(a.off(), b.off()) })
}

// tenReadings plays the network-aware HEFT on the ten tasks by each reading.
func (r *runner) tenReadings() (all []tenReading, err error) {
	const route = `{"from":"P%d","to":"P2","links":["in"]%s}`
	both := fmt.Sprintf(route, 1, "") + "," + fmt.Sprintf(route, 3, "")
	into := fmt.Sprintf(route, 1, `,"one_way":true`) + "," + fmt.Sprintf(route, 3, `,"one_way":true`)
	for _, p := range []struct{ name, routes string }{{"two pools", ""}, {"one link", both}, {"only transfers into P2", into}} {
		file := "docs/examples/ten-tasks.json"
		if p.routes != "" {
			name := "ten-" + strings.ReplaceAll(p.name, " ", "-") + ".json"
			if file, err = edit(file, name, "network", `{"bandwidth":1,"links":[{"id":"in"}],"routes":[`+p.routes+`]}`); err != nil {
				return nil, err
			}
		}
		for _, transfers := range []string{"fair", "tcp", "tcp-all"} {
			x, err := r.solve("-a", "network-aware", "--transfers", transfers, file)
			if err != nil {
				return nil, err
			}
			all = append(all, tenReading{p.name + ", " + transfers, x})
		}
	}
	return all, nil
}
