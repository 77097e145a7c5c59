// SPDX-License-Identifier: MIT

package verify

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/test/require"
)

// The schema of results names each type of evidence that the judge knows, and the claims.
func TestSchemaNamesEvidence(t *testing.T) {
	text := require.Value(os.ReadFile("../docs/reference/schema/result.json"))(t)
	var schema struct {
		Defs struct {
			Evidence struct {
				Properties struct {
					Type struct {
						Enum []string `json:"enum"`
					} `json:"type"`
				} `json:"properties"`
			} `json:"evidence"`
		} `json:"$defs"`
	}
	require.OK(t, json.Unmarshal(text, &schema))
	want := []string{evidence.Relaxation, evidence.Search, evidence.Proof}
	for _, forms := range evidenceForms {
		for name := range forms {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	got := schema.Defs.Evidence.Properties.Type.Enum
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the schema has %q, the judge %q", got, want)
	}
}
