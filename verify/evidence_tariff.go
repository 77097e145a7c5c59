// SPDX-License-Identifier: MIT

package verify

import (
	"math/big"
	"slices"
)

// tariff is a price of time: between times, or at times if instants.
type tariff struct {
	unit     binary
	times    []int64
	price    []*big.Int
	sum      []*big.Int // of the price up to each time
	instants bool
}

// newTariff takes times and prices of a form of evidence, which defines their number and range.
func newTariff(times []int64, prices []float64) *tariff {
	var unit binary
	for _, x := range prices {
		unit.see(x)
	}
	return tariffIn(unit, times, prices)
}

// tariffIn takes them in a unit that has seen the prices.
func tariffIn(unit binary, times []int64, prices []float64) *tariff {
	t := &tariff{unit: unit, times: times, instants: len(times) == len(prices)}
	total := new(big.Int)
	for i, x := range prices {
		t.price = append(t.price, t.unit.whole(x))
		t.sum = append(t.sum, new(big.Int).Set(total))
		part := new(big.Int).Set(t.price[i])
		if !t.instants {
			part.Mul(part, big.NewInt(times[i+1]-times[i]))
		}
		total.Add(total, part)
	}
	t.sum = append(t.sum, total)
	return t
}

// all returns the price of all time.
func (t *tariff) all() *big.Int { return t.sum[len(t.sum)-1] }

// before returns the price of the time before x.
func (t *tariff) before(x int64) *big.Int {
	i, _ := slices.BinarySearch(t.times, x) // times[i-1] < x
	switch {
	case t.instants:
		return t.sum[i]
	case i == 0:
		return t.sum[0]
	case i == len(t.times):
		return t.all()
	}
	v := big.NewInt(x - t.times[i-1])
	return v.Add(v.Mul(v, t.price[i-1]), t.sum[i-1])
}

// starts returns starts from first to last; one of them is the cheapest for a job of a length if prices are between
// times.
func (t *tariff) starts(first, last, length int64) []int64 {
	all := []int64{first, last}
	for _, shift := range []int64{0, length} {
		from, _ := slices.BinarySearch(t.times, first+shift)
		for _, x := range t.times[from:] {
			s := x - shift
			if s > last {
				break
			}
			all = append(all, s)
		}
	}
	return all
}
