// SPDX-License-Identifier: MIT

package testkit

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"

	"github.com/gapwise/gapwise/model"
)

// largest is the most that most figures may be.
const largest = 100_000_000

// Extreme returns an instance with some of its lists emptied, cut to one element or of like elements, and some of its
// figures 0, 1 or the largest: what Validate lets pass of some attempts, else the instance itself. It knows no problem.
func Extreme(rng *rand.Rand, in model.Instance) model.Instance {
	for range 40 {
		raw, err := json.Marshal(in)
		if err != nil {
			return in
		}
		to, err := model.DecodeInstance(raw)
		if err != nil {
			return in
		}
		for range 1 + rng.IntN(3) {
			distort(rng, reflect.ValueOf(to).Elem())
		}
		if raw, err = json.Marshal(to); err != nil {
			continue
		}
		if to, err = model.DecodeInstance(raw); err == nil && to.Validate() == nil {
			return to
		}
	}
	return in
}

// kept are fields that stay as they are: an account is no part of the problem, and the others came after numbers of the
// draws had been written down. Other draws have them.
var kept = map[reflect.Type]map[string]bool{
	reflect.TypeFor[model.Batch]():         {"Account": true, "Resources": true, "Nodes": true},
	reflect.TypeFor[model.BatchJob]():      {"Needs": true},
	reflect.TypeFor[model.Consolidation](): {"Account": true, "Mend": true},
	reflect.TypeFor[model.DAG]():           {"Account": true, "Resources": true},
	reflect.TypeFor[model.DAGEdge]():       {"Files": true},
	reflect.TypeFor[model.DAGTask]():       {"Needs": true, "NeedsOn": true},
	reflect.TypeFor[model.Machine]():       {"LocalRate": true, "Capacity": true},
	reflect.TypeFor[model.Reservation]():   {"Account": true},
	reflect.TypeFor[model.Route]():         {"LatencyS": true, "Weight": true},
	reflect.TypeFor[model.TVC]():           {"Account": true},
	reflect.TypeFor[model.VCSched]():       {"Account": true},
}

// distort changes a field of a value, or of what it holds.
func distort(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if rng.IntN(4) == 0 && v.CanSet() {
			v.SetZero()
			return
		}
		distort(rng, v.Elem())
	case reflect.Struct:
		var fields []int
		for k := range v.NumField() {
			if !kept[v.Type()][v.Type().Field(k).Name] {
				fields = append(fields, k)
			}
		}
		if len(fields) > 0 {
			distort(rng, v.Field(fields[rng.IntN(len(fields))]))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		switch rng.IntN(5) {
		case 0:
			v.Set(v.Slice(0, 0))
		case 1:
			v.Set(v.Slice(0, 1))
		case 2: // all alike
			each := rng.Uint64()
			for k := range v.Len() {
				distort(rand.New(rand.NewPCG(each, 1)), v.Index(k))
			}
		default:
			distort(rng, v.Index(rng.IntN(v.Len())))
		}
	case reflect.Int, reflect.Int32: // most count something, of which each has its place in memory
		if v.CanSet() {
			v.SetInt(one[int64](rng, 0, 1, 2, 1000))
		}
	case reflect.Int64:
		if v.CanSet() {
			v.SetInt(one[int64](rng, 0, 1, 2, largest))
		}
	case reflect.Float64:
		if v.CanSet() {
			v.SetFloat(one(rng, 0, 1e-6, 1, largest))
		}
	case reflect.Bool:
		if v.CanSet() {
			v.SetBool(rng.IntN(2) == 0)
		}
	}
}
