// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// summarised are the phrases of summary.md with figures: each is a format of what a page
// has in the groups of a pattern, rounded as the format says.
var summarised = []struct{ phrase, page, pattern string }{
	{"MCB8 %.0f %% below the LP at the smallest slack (here %.0f %%)", "vcsched-large.md", `MCB8's curve below the LP's at slack 0\.1, in percent of the LP's \| (\S+) \| (\S+) \|`},
	{"the LP %.0f %% above the optimum (here %.1f %%)", "vcsched.md", `LP above the optimum, in percent \| (\S+) \| (\S+) \|`},
	{"the paper has %.0f of 1,440 instances infeasible; here there are %.0f", "vcsched.md", `infeasible instances of 1,440 \| (\S+) \| (\S+) \|`},
	{"are %.2f to %.2f times", "vcsched.md", `Means over all instances, over the paper's: (\S+) to (\S+) by the needs left`},
	{"all %.0f,400 instances of the small set are proved", "vcsched.md", `The search proves (\d+)400 of 14400 instances optimal or infeasible`},
	{"%.0f %% longer because of contention (here %.0f %%)", "dag.md", `contention lengthens them by (\S+) % [^|]*\| (\S+) ±`},
	{"Of 16 statements, %.0f hold, %.0f don't and %.0f are open, both with one link", "dag.md", `With one link, (\d+) held, (\d+) not held, (\d+) undecided`},
	{"are open, both with one link and with two pools", "dag.md", `With two pools, 6 held, 8 not held, 2 undecided`},
	{"With 50 tasks it reaches %.0f s", "dag.md", `\| +50 \| improve +\|(?:[^|]*\|){3} +(\S+) \|`},
	{"the paper's 50 rounds reach %.0f s (fair sharing)", "dag.md", `\| +50 \| network-aware \|(?:[^|]*\|){3} +(\S+) \|`},
	{"%.0f of 62 statements | %.0f, both about flexibility", "reservation.md", `\| all \| (\d+) held, (\d+) not held, 1 tied, 6 undecided`},
	{"both about flexibility", "reservation.md", `flexibility \| \d+ held, 2 not held`},
	{"With open rectangles %.0f of the statements hold; with another workload, %.0f", "reservation.md", `\| all \| [^|]*\| (\d+) held[^|]*\| (\d+) held`},
	{"%.0f small instances with a proved clairvoyant optimum", "reservation.md", `\| (?:kernel|search) +\| +\d+ \| +\d+ \| +(\d+) \|`},
	{"The best policy's gap to it is %.0f %% on average", "reservation.md", `\| least-load +\| +70 \|(?:[^|]*\|){4} +(\S+) \|`},
	{"a lead of up to 15 points (here %.0f)", "tvc.md", `\| uniform sizes, non-blocking \| \S+ \| -(\S+) \|`},
	{"accepts %.0f percentage points more than AdaBa (700 Mbps", "tvc.md", `\| 700 \| \+(\S+) ± `},
	{"a response %.0f %% shorter (here %.0f %%)", "tables/batch-statements-1.csv", `MEASY's response is (\S+) % below that of EASY on one tier, mean over the loads [^,]*,(\S+) ±`},
	{"MEASY is %.0f %% below EASY at load 0.9 of the heavy workload", "batch.md", `The paper's numbers of jobs .*?\| 0\.9 \| (\S+) \|`},
	{"a single tier is better at load 0.5", "batch.md", `\| 0\.5 \| 49\.3 \| 52\.8 \| -1\.4 \| 1\.1 \|`},
	{"network-aware HEFT leaves a gap of %.0f %%", "optimum.md", `\| network-aware \| 20 \| \d+ \| (\S+) \|`},
	{"BgMBF in a queue leaves %.0f ", "optimum.md", `\| bgmbf \| 40 \| \d+ \| (\S+) \|`},
	{"to %.0f %%, depending on the load", "optimum.md", `.*\| bgmbf \| 40 \| \d+ \| (\S+) \|`},
	{"and MEASY %.0f %%", "optimum.md", `\| measy \| 30 \| \d+ \| (\S+) \|`},
	{"PEASY. It is %.1f to 5.5 %% below MEASY at loads 0.6 to 0.9", "batch-settings.md", `\| 0\.6 \| (\S+) ± \S+ held`},
	{"to %.1f %% below MEASY at loads 0.6 to 0.9", "batch-settings.md", `\| 0\.7 \| (\S+) ± \S+ held`},
}

// Each figure of the summary is one of the page that it links, rounded.
func TestSummary(t *testing.T) {
	t.Chdir("../../docs/results")
	read := func(file string) string {
		text := must(os.ReadFile(filepath.FromSlash(file)))
		return strings.Join(strings.Fields(string(text)), " ")
	}
	summary := read("summary.md")
	left := summary
	for _, x := range summarised {
		m := regexp.MustCompile(strings.ReplaceAll(x.pattern, " +", " *")).FindStringSubmatch(read(x.page))
		if m == nil {
			t.Errorf("%s has nothing like %s", x.page, x.pattern)
			continue
		}
		var figures []any
		for _, f := range m[1:] {
			v := must(strconv.ParseFloat(f, 64))
			figures = append(figures, v)
		}
		phrase := fmt.Sprintf(x.phrase, figures...)
		if !strings.Contains(summary, phrase) {
			t.Errorf("summary.md doesn't say %q, as %s does", phrase, x.page)
		}
		left = strings.ReplaceAll(left, phrase, "")
	}
	for _, name := range []string{"version 0.10", "Table 1 ", "MCB8 first", "dag-1296", "figure4", "figure6"} {
		left = strings.ReplaceAll(left, name, "")
	}
	if m := regexp.MustCompile(`.{0,40}\d.{0,20}`).FindAllString(left, -1); m != nil {
		t.Errorf("no page is held against %q", m)
	}
}
