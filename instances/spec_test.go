// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/test/require"
)

// set sets parameters, the seed and the index of a specification, as in "jobs=3 load=0.5": values that the parameter
// refuses, too, for the specification refuses them as well.
func set(t require.T, spec any, parameters string) {
	t.Helper()
	for _, pair := range strings.Fields(parameters) {
		key, value, _ := strings.Cut(pair, "=")
		if name := map[string]string{"seed": "Seed", "index": "Index"}[key]; name != "" {
			field := reflect.ValueOf(spec).Elem().FieldByName(name)
			require.OK(t, require.Err(fmt.Sscan(value, field.Addr().Interface())))
			continue
		}
		all := params.Of(spec)
		k := slices.IndexFunc(all, func(p params.Param) bool { return p.Key == key })
		if err := all[k].Set(spec, value); err != nil && strings.Contains(err.Error(), "number") {
			t.Fatal(pair, err)
		}
	}
}
