package gapwise_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// BenchmarkRead reports, in milliseconds, what an instance costs beside its
// solver: the strict decoder (with Validate), the hash, and the judgement on
// the bookings of ff; plain is json.Unmarshal of the same file into the same
// struct, and ratio is the other three together over it.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("requests=%d", n), func(b *testing.B) {
			spec := instances.NewReservationSpec()
			spec.Requests = n
			in, err := spec.Generate()
			if err != nil {
				b.Fatal(err)
			}
			data, err := json.Marshal(in)
			if err != nil {
				b.Fatal(err)
			}
			r, err := gapwise.Solve(b.Context(), in, gapwise.Options{Algorithm: "ff"})
			if err != nil {
				b.Fatal(err)
			}
			var plain, decode, validate, hash, judge time.Duration
			lap := func(sum *time.Duration, f func() error) {
				start := time.Now()
				if err := f(); err != nil {
					b.Fatal(err)
				}
				*sum += time.Since(start)
			}
			for b.Loop() {
				lap(&plain, func() error { return json.Unmarshal(data, new(model.Reservation)) })
				var read model.Instance
				lap(&decode, func() (err error) { read, err = model.DecodeInstance(data); return err })
				lap(&validate, func() error { return read.Validate() })
				lap(&hash, func() error { _, err := model.Hash(read); return err })
				lap(&judge, func() error {
					report, err := verify.Result(b.Context(), read, r, verify.Options{})
					if err == nil {
						err = report.Err()
					}
					return err
				})
			}
			for name, d := range map[string]time.Duration{"plain": plain, "decode": decode, "validate": validate, "hash": hash, "judge": judge} {
				b.ReportMetric(d.Seconds()*1000/float64(b.N), name+"-ms")
			}
			b.ReportMetric((decode + hash + judge).Seconds()/plain.Seconds(), "ratio")
		})
	}
}
