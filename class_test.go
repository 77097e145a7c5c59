// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"fmt"
	"slices"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Every algorithm states its knowledge when it decides.
func TestEveryAlgorithmHasAClass(t *testing.T) {
	online := map[model.Kind]bool{model.KindBatch: true, model.KindReservation: true, model.KindTVC: true}
	for _, kind := range model.Kinds() {
		for _, a := range gapwise.Algorithms(kind) {
			switch {
			case !slices.Contains(model.Classes(), a.Class):
				t.Errorf("%s of %s has the class %q", a.Name, kind, a.Class)
			case a.Exact != (a.Class == model.Yardstick) && a.Name != "clairvoyant" && (a.Name != "lns" || kind != model.KindReservation), a.Class == model.Online && !online[kind], a.Class == model.Offline && kind == model.KindReservation:
				t.Errorf("%s of %s is %s", a.Name, kind, a.Class)
			case gapwise.ClassOf(kind, a.Name) != a.Class:
				t.Errorf("%s of %s is taken for %s", a.Name, kind, gapwise.ClassOf(kind, a.Name))
			}
		}
		problem := require.Value(gapwise.ProblemOf(kind))(t)
		for name, want := range map[string]model.Class{"auto": model.Yardstick, "exact": model.Yardstick, "cbc": model.Yardstick,
			problem.Default + ",highs":                        model.Yardstick,
			problem.Engines()[0] + "+" + problem.Engines()[1]: model.Yardstick, "glpsol+cbc-x": model.Yardstick, "mps:a+b {in}": model.Yardstick, "cmd:search+kernel": model.Offline,
			"mps:mine {in}": model.Yardstick, "cmd:sh easy.sh": model.Offline, "easier": model.Offline} {
			require.Same(t, fmt.Sprintf("%s of %s", name, kind), want, gapwise.ClassOf(kind, name))
		}
	}
}
