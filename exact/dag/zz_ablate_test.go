package dag

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gapwise/gapwise/model"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func TestAblate(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("ABL_IN"))
	if len(files) == 0 {
		t.Skip()
	}
	limit, _ := strconv.ParseFloat(os.Getenv("ABL_LIMIT"), 64)
	type variant struct {
		name string
		t    tuning
	}
	var all []variant
	all = append(all, variant{"-", searchTuning})
	for _, d := range devices {
		x := searchTuning
		x.off = d.bit
		all = append(all, variant{d.Name, x})
	}
	add := func(name string, f func(x *tuning)) {
		x := searchTuning
		f(&x)
		all = append(all, variant{name, x})
	}
	add("widths 100", func(x *tuning) { x.widths = []int{100} })
	add("widths 1000", func(x *tuning) { x.widths = []int{1000} })
	add("widths 3000", func(x *tuning) { x.widths = []int{3000} })
	add("widths 100,3000,30000", func(x *tuning) { x.widths = []int{100, 3000, 30000} })
	add("steps 5", func(x *tuning) { x.assignSteps = 5 })
	add("steps 400", func(x *tuning) { x.assignSteps = 400 })
	add("nodes 300k", func(x *tuning) { x.assignNodes = []int64{300_000} })
	add("nodes 10M", func(x *tuning) { x.assignNodes = []int64{10_000_000} })
	add("nodes 30k,1M", func(x *tuning) { x.assignNodes = []int64{30_000, 1_000_000} })
	add("leaf 200", func(x *tuning) { x.leafWidth = 200 })
	add("leaf 20000", func(x *tuning) { x.leafWidth = 20000 })
	add("improve 500", func(x *tuning) { x.improve = 500 })
	add("block 100M", func(x *tuning) { x.block = 100_000_000 })
	only := strings.Split(os.Getenv("ABL_ONLY"), ";")
	for _, v := range all {
		if only[0] != "" && !slices.Contains(only, v.name) {
			continue
		}
		proved, gap, nodes, spent := 0, 0.0, int64(0), 0.0
		var vec []string
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			in, err := model.DecodeInstance(data)
			if err != nil {
				t.Fatal(err)
			}
			d := in.(*model.DAG)
			ctx, cancel := context.WithCancel(context.Background())
			began := cpu()
			over := make(chan bool)
			go func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(20 * time.Millisecond):
						if cpu()-began > limit {
							cancel()
						}
					}
				}
			}()
			s := dagSearch{ctx: ctx, d: d, g: d.Graph(), set: model.Settings{Seed: 1}, tuning: v.t, began: time.Now()}
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
			close(over)
			cancel()
			c := cpu() - began
			g := 0.0
			if s.upper > 0 {
				g = (s.upper - s.lower) / s.upper
			}
			if s.closed() {
				proved++
			} else {
				gap += math.Max(g, 0)
			}
			nodes += s.nodes
			spent += c
			vec = append(vec, fmt.Sprintf("%s %v %v %d %.2f", filepath.Base(f), s.upper, s.lower, s.nodes, c))
		}
		fmt.Printf("%-28s proved %d/%d gap %.3f%% nodes %d cpu %.1f\n", v.name, proved, len(files), 100*gap/float64(len(files)), nodes, spent)
		if os.Getenv("ABL_V") != "" {
			fmt.Println(strings.Join(vec, "\n"))
		}
	}
}
