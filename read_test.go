// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// BenchmarkRead reports, in milliseconds, the cost of an instance without its solver: the strict decoder (with
// Validate), the hash, and the judgement on the bookings of ff. plain is json.Unmarshal of the same file into the same
// struct, and ratio is the other three together over it. Each is the least of all rounds, which a busy machine disturbs
// least. Times are whole seconds, or have two decimals.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		for _, whole := range []bool{true, false} {
			b.Run(fmt.Sprintf("requests=%d/whole=%v", n, whole), func(b *testing.B) { benchmarkRead(b, n, whole) })
		}
	}
}

func benchmarkRead(b *testing.B, n int, whole bool) {
	spec := instances.NewReservationSpec()
	spec.Requests = n
	in := require.Value(spec.Generate())(b)
	if !whole {
		for k := range in.Requests {
			q := &in.Requests[k]
			for _, x := range []*float64{&q.ArrivalS, &q.ReadyS, &q.DurationS, &q.DeadlineS} {
				*x = math.Round(*x*77) / 100
			}
			q.DeadlineS = math.Round(max(q.DeadlineS, q.ReadyS+q.DurationS)*100) / 100
		}
	}
	data := require.Value(json.Marshal(in))(b)
	r := require.Value(gapwise.Solve(b.Context(), in, gapwise.Options{Algorithm: "ff"}))(b)
	const never = time.Duration(math.MaxInt64)
	plain, decode, hash, judge := never, never, never, never
	lap := func(least *time.Duration, f func() error) {
		start := time.Now()
		require.OK(b, f())
		*least = min(*least, time.Since(start))
	}
	for b.Loop() {
		lap(&plain, func() error { return json.Unmarshal(data, new(model.Reservation)) })
		var read model.Instance
		lap(&decode, func() (err error) { read, err = model.DecodeInstance(data); return err })
		var sum string
		lap(&hash, func() (err error) { sum, err = model.Hash(read); return err })
		lap(&judge, func() error {
			report, err := verify.Result(b.Context(), read, r, verify.Options{Hash: sum, Valid: true})
			if err == nil {
				err = report.Err()
			}
			return err
		})
	}
	for name, d := range map[string]time.Duration{"plain": plain, "decode": decode, "hash": hash, "judge": judge} {
		b.ReportMetric(d.Seconds()*1000, name+"-ms")
	}
	b.ReportMetric((decode+hash+judge).Seconds()/plain.Seconds(), "ratio")
}
