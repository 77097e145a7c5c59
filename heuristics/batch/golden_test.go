// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// golden holds digests of the starts and of the traces of 2,000 small and 60 deep
// instances, by algorithm and order, from version 0.9.0, whose schedulers were called by
// a simulation of their own.
var golden = map[string][2]string{
	"conservative batch": {"3c1cfb180934735c", "969f61119937eb50"},
	"conservative pyss":  {"3df3fd114d2c3d1f", "6d5cd461abb3454d"},
	"easy batch":         {"e90a5dbd65ba7d06", "2fcd800927278ef8"},
	"easy pyss":          {"ae92d5de176be227", "09a6cbae0fef46f2"},
	"easy-saf batch":     {"4583674adbb900fc", "d98d5eaf426be1a9"},
	"easy-saf pyss":      {"22f2150987e7f28a", "b48745df765b9b78"},
	"easy-sjbf batch":    {"25831172acd3d180", "348ec97a05489e95"},
	"easy-sjbf pyss":     {"7db9bc5efef6617b", "b2635b50d5bbb18b"},
	"fcfs batch":         {"36f71f4310a911ca", "c76d87ef5f360268"},
	"fcfs pyss":          {"36f71f4310a911ca", "31220f7116f242a9"},
	"sjf batch":          {"dad55938ffb999ef", "3814fa50a770b473"},
	"sjf pyss":           {"a94b0a6d3598d79c", "086842f6dfff4bc1"},
}

// Starts and traces are those of 0.9.0, byte for byte.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name := range oneTier {
		for _, order := range orders {
			rng := rand.New(rand.NewPCG(12, 77))
			at, traces := sha256.New(), sha256.New()
			for round := range 2060 {
				b := small
				if round >= 2000 {
					b = deep
				}
				in := b(rng)
				set := model.Settings{Parameters: &model.BatchParameters{Order: order}}
				if round%10 == 0 {
					set.Trace = func(s model.Step) {
						if err := json.NewEncoder(traces).Encode(s); err != nil {
							t.Fatal(err)
						}
					}
				}
				e, err := oneTier[name](context.Background(), in, set)
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range starts(t, in, e) {
					_ = binary.Write(at, binary.LittleEndian, x)
				}
			}
			got := [2]string{hex.EncodeToString(at.Sum(nil)[:8]), hex.EncodeToString(traces.Sum(nil)[:8])}
			if key := name + " " + string(order); got != golden[key] {
				t.Errorf("%q: {%q, %q}, want %q", key, got[0], got[1], golden[key])
			}
		}
	}
}
