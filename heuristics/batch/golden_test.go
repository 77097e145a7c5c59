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

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// golden holds digests of the starts, and of the traces of EASY, of 2,000 small and 60 deep instances, by algorithm and
// order. They are from version 0.9.0, which called its schedulers from a simulation of their own.
var golden = map[string][2]string{
	"conservative batch": {"3c1cfb180934735c", "e3b0c44298fc1c14"},
	"conservative pyss":  {"3df3fd114d2c3d1f", "e3b0c44298fc1c14"},
	"easy batch":         {"e90a5dbd65ba7d06", "2fcd800927278ef8"},
	"easy pyss":          {"ae92d5de176be227", "09a6cbae0fef46f2"},
	"easy-saf batch":     {"4583674adbb900fc", "e3b0c44298fc1c14"},
	"easy-saf pyss":      {"22f2150987e7f28a", "e3b0c44298fc1c14"},
	"easy-sjbf batch":    {"25831172acd3d180", "e3b0c44298fc1c14"},
	"easy-sjbf pyss":     {"7db9bc5efef6617b", "e3b0c44298fc1c14"},
	"fcfs batch":         {"36f71f4310a911ca", "e3b0c44298fc1c14"},
	"fcfs pyss":          {"36f71f4310a911ca", "e3b0c44298fc1c14"},
	"sjf batch":          {"dad55938ffb999ef", "e3b0c44298fc1c14"},
	"sjf pyss":           {"a94b0a6d3598d79c", "e3b0c44298fc1c14"},
}

// Starts and traces equal the ones of 0.9.0, byte for byte.
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
						require.OK(t, json.NewEncoder(traces).Encode(s))
					}
				}
				e := require.Value(oneTier[name](context.Background(), in, set))(t)
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
