// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// What is packed is unpacked by compress/gzip, and is no larger than that packs it.
func TestGzipped(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	noise, mixed, few := make([]byte, 100_000), []byte(nil), make([]byte, 300_000)
	for k := range noise {
		noise[k] = byte(r.Uint32())
	}
	for k := range few {
		few[k] = "aaaaaaaaaaaaabbbc"[r.IntN(17)]
	}
	for len(mixed) < 400_000 {
		at := r.IntN(len(noise) - 300)
		mixed = append(append(mixed, noise[at:at+r.IntN(300)]...), strings.Repeat("x", r.IntN(20))...)
	}
	for name, data := range map[string][]byte{"nothing": nil, "one": {7}, "two": {7, 7}, "three": []byte("abc"), "run": bytes.Repeat([]byte{0}, 100_000),
		"noise": noise, "few": few, "mixed": mixed, "words": []byte(strings.Repeat("the schedule of the jobs, ", 999))} {
		small := gzipped(data)
		z := require.Value(gzip.NewReader(bytes.NewReader(small)))(t)
		if back := require.Value(io.ReadAll(z))(t); !bytes.Equal(back, data) {
			t.Errorf("%s: %d bytes come back as %d", name, len(data), len(back))
		}
		var b bytes.Buffer
		w := require.Value(gzip.NewWriterLevel(&b, gzip.BestCompression))(t)
		_, _ = w.Write(data)
		require.OK(t, w.Close())
		if most := b.Len() + b.Len()/100 + 20; len(small) > most {
			t.Errorf("%s: %d bytes are packed to %d, want %d at most", name, len(data), len(small), most)
		}
	}
}
