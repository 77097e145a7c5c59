// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// If there is one offer there are as many of its hosts as the tasks need, and of thousands of offers few of each.
func TestSlots(t *testing.T) {
	t.Parallel()
	one := &model.Consolidation{Name: "one", Resources: []string{"c"}, Offers: []model.HostOffer{{ID: "o", Capacity: []int64{10}, Price: 1, Count: 100_000}},
		Jobs: []model.ConsolidationJob{{ID: "j", Tasks: 8000, Needs: []int64{1}}}}
	a, err := First(t.Context(), one, model.Settings{})
	if err != nil || len(a.Bought) != 800 {
		t.Fatalf("%v, %d hosts were bought, 800 do", err, len(a.Bought))
	}
	many := &model.Consolidation{Name: "many", Resources: []string{"c"}, Jobs: []model.ConsolidationJob{{ID: "j", Tasks: 500, Needs: []int64{1}}}}
	for k := range 3000 {
		many.Offers = append(many.Offers, model.HostOffer{ID: fmt.Sprint(k), Capacity: []int64{int64(10 + k%50)}, Price: int64(10 + k%7), Count: 1000})
	}
	if n := len(newPacker(many).C.Hosts); n > 100_000 {
		t.Errorf("%d hosts are looked at", n)
	}
	if a, err = Drain(t.Context(), many, model.Settings{}); err != nil || len(a.Bought) > 10 {
		t.Errorf("%v, %d hosts were bought, 9 do", err, len(a.Bought))
	}
}
