// SPDX-License-Identifier: MIT

package model_test

import (
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A program's assignment may leave out kind and version, and have its jobs in any order; other kinds are refused.
func TestPartialAssignment(t *testing.T) {
	in := require.Value(model.DecodeInstance([]byte(`{"kind":"consolidation","version":1,"name":"two","resources":["cpu"],
		"hosts":[{"id":"h","capacity":[2],"price":1}],"jobs":[{"id":"a","tasks":1,"needs":[1]},{"id":"b","tasks":1,"needs":[1]}]}`)))(t)
	s, _, err := model.DecodePartial(in, []byte(`{"jobs":[{"id":"b","hosts":["h"]},{"id":"a","hosts":["h"]}]}`))
	require.OK(t, err)
	if jobs := s.(*model.Assignment).Jobs; len(jobs) != 2 || jobs[0].ID != "a" || jobs[1].ID != "b" {
		t.Errorf("%v", jobs)
	}
	_, _, err = model.DecodePartial(in, []byte(`{"kind":"dag","jobs":[]}`))
	require.Refused(t, "another kind", err, model.ErrInvalid, "kind is")
}
