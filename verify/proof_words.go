// SPDX-License-Identifier: MIT

package verify

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Limits of the checker, see docs/reference/proofs.md. Numbers of a proof are below maxProofNumber from 0, as are the
// bounds of variables, so that no difference of two overflows.
const (
	maxProofNumber = 1 << 60
	maxProofLine   = 1 << 22 // bytes
	maxProofLines  = 1 << 32
	maxProofMemory = 1 << 29 // bytes, by the costs below

	costOfName    = 256 // of a variable or a constraint
	costOfEntry   = 32  // of a constraint, see proofRule
	costOfNogood  = 128
	costOfPremise = 16
	costOfChange  = 16 // of the trail
)

var errUnknownName = errors.New("there is nothing of this name")

// proofNumber reads a whole number as it is usually written: digits, without a zero
// before others, and maybe a minus sign.
func proofNumber(text []byte) (int64, error) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	well := len(digits) > 0 && len(digits) < 20 && (digits[0] != '0' || len(text) == 1)
	n := int64(0)
	for i := 0; well && i < len(digits); i++ {
		well = digits[i] >= '0' && digits[i] <= '9'
		n = 10*n + int64(digits[i]&15)
	}
	if !well || n >= maxProofNumber || n < 0 {
		if len(text) > 40 {
			text = text[:40]
		}
		return 0, fmt.Errorf("%q is no whole number below 2^60", text)
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, nil
}

// proofID reads a number of at least 0.
func proofID(text []byte) (int64, error) {
	n, err := proofNumber(text)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d is below 0", n)
	}
	return n, err
}

// proofIndex reads a number below n.
func proofIndex(text string, n int) (int, error) {
	i, err := proofID([]byte(text))
	if err != nil || i >= int64(n) {
		return 0, fmt.Errorf("%q must be a number from 0 to %d", text, n-1)
	}
	return int(i), nil
}

// proofUnit reads a unit that is a number from 1 to most.
func proofUnit(text string, most int64) (int64, error) {
	n, err := proofNumber([]byte(text))
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("the unit %q is no whole number from 1 to %d", text, most)
	}
	return n, nil
}

// split returns the words of a line.
func split(text []byte, words [][]byte) [][]byte {
	for {
		text = bytes.TrimLeft(text, " ")
		if len(text) == 0 {
			return words
		}
		i := bytes.IndexByte(text, ' ')
		if i < 0 {
			return append(words, text)
		}
		words, text = append(words, text[:i]), text[i:]
	}
}

func asStrings(words [][]byte) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// roundDown returns a float64 that isn't above x, the nearest or the one below.
func roundDown(x *big.Rat) float64 {
	f, _ := x.Float64()
	if math.IsInf(f, 0) || exact(f).Cmp(x) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}
