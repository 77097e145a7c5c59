// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
)

// packings is the published vector packing set as gapwise solve --least-hosts solves it.
type packings struct {
	Files    []packing
	Families []*packingFamily
}

// packing is one file: what is published, "" if that is open, and what was found; Status
// is "refused" for a file that breaks the format.
type packing struct {
	File, Items, Dims               string
	Published, Heuristic            string // the optimum; the best of the publication's heuristics
	Hosts, Bound, Status, Proof, By string
}

// packingFamily sums up the files of a folder and a number of items.
type packingFamily struct {
	Family, Items                            string
	Files, Refused, Proved, Met, Missed, New int
	Better                                   int // fewer bins than the best published heuristic
	AboveOptimum                             int // of published optima, bins that are left
}

// packings runs the set with a limit on the effort of a file. An optimum or bound that contradicts a
// published one is an error.
func (r *runner) packings(limit string) (all packings) {
	lines, folder := unpacked("vbp", "optima.csv", "vbp.tar.gz")
	defer os.RemoveAll(folder)
	found := map[string]packedLine{}
	families := map[string]*packingFamily{}
	for _, family := range []string{"New", "Panigrahy", "Triplet"} {
		r.pack(filepath.Join(folder, family), family, limit, found)
	}
	for _, l := range lines[1:] {
		p := packing{File: l[0], Items: l[1], Dims: l[2], Heuristic: l[5], Status: "refused"}
		if number(l[4]) > 0 {
			p.Published = l[4]
		}
		key := filepath.Dir(p.File) + " " + fmt.Sprintf("%4s", p.Items[:len(p.Items)-1]+"0")
		f := families[key]
		if f == nil {
			f = &packingFamily{Family: filepath.Dir(p.File), Items: p.Items[:len(p.Items)-1] + "0"}
			families[key] = f
		}
		f.Files++
		if x, ok := found[strings.TrimSuffix(p.File, ".vbp")]; ok {
			if p.Published != "" && (float64(x.Bound) > number(p.Published) || float64(x.Hosts) < number(p.Published)) {
				panic(fmt.Errorf("%s: %d to %d bins, the published optimum is %s", p.File, x.Bound, x.Hosts, p.Published))
			}
			p.Hosts, p.Bound, p.Status = fmt.Sprint(x.Hosts), fmt.Sprint(x.Bound), x.Status
			p.By, p.Proof, _ = strings.Cut(x.Proof, ": ")
			f.count(p, x)
		} else {
			f.Refused++
		}
		all.Files = append(all.Files, p)
	}
	for _, key := range slices.Sorted(maps.Keys(families)) {
		all.Families = append(all.Families, families[key])
	}
	return all
}

// count adds a file that was solved.
func (f *packingFamily) count(p packing, x packedLine) {
	proved := x.Status == "optimal"
	switch {
	case proved && p.Published != "":
		f.Met++
	case proved:
		f.New++
	case p.Published != "":
		f.Missed++
		f.AboveOptimum += x.Hosts - int(number(p.Published))
	}
	if proved {
		f.Proved++
	}
	if float64(x.Hosts) < number(p.Heuristic) {
		f.Better++
	}
}

// packedLine is what is read of a line of gapwise solve --least-hosts --json.
type packedLine struct {
	Instance, Status, Proof string
	Hosts, Bound            int
}

// pack runs gapwise solve --least-hosts on the files of a folder that follow the format, and stores what
// it prints under "FAMILY/instance".
func (r *runner) pack(folder, family, limit string, found map[string]packedLine) {
	valid := kept(must(filepath.Glob(filepath.Join(folder, "*.vbp"))), func(f string) bool {
		_, err := instances.ReadVBP(must(os.ReadFile(f)))
		return err == nil
	})
	text := once(fmt.Sprintf("results/vector-packing-%s-%s-%s.jsonl", codeOf("vcsched"), limit, family), func() string {
		return r.run(append([]string{"solve", "--least-hosts", "--json", "--effort", limit}, valid...)...)
	})
	for _, x := range decoded[packedLine](text) {
		found[family+"/"+x.Instance] = x
	}
}
