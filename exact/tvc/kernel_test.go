// SPDX-License-Identifier: MIT

package tvc_test

import (
	"math/rand/v2"
	"testing"

	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// kernelWithout returns the kernel without some devices.
func kernelWithout(t testing.TB, names ...string) model.Solver {
	t.Helper()
	return require.Value(tvcexact.Kernel.Without(names...))(t)
}

// Each device of the model is worth its lines: without it there are more conflicts.
// Siblings in order cost some where packing is easy.
func TestKernelDevices(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		device   string
		requests int
		seeds    []uint64
	}{
		{"siblings", 20, []uint64{4, 7}},
		{"totals", 7, []uint64{3}},
	} {
		whole, without := int64(0), int64(0)
		for _, seed := range x.seeds {
			in := drawn(t, rand.New(rand.NewPCG(seed, 77)), x.requests)
			whole += solve(t, tvcexact.Kernel, in, model.Settings{}).Nodes
			without += solve(t, kernelWithout(t, x.device), in, model.Settings{}).Nodes
		}
		t.Logf("without %s: %d nodes, with all %d", x.device, without, whole)
		if without <= whole {
			t.Errorf("without %s the kernel meets %d conflicts, with all %d", x.device, without, whole)
		}
	}
}
