// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// The least length of a match, the longest one, and how far back a match lies (RFC 1951, 3.2.5). A match of three bytes
// that lies further back than near takes more bits than the bytes.
const (
	least, longest = 3, 258
	window, near   = 1 << 15, 1 << 12
	mostTries      = 1 << 12 // earlier places that are compared
	blockTokens    = 1 << 14
)

// gzipped packs data as gzip -9 does. The page's library is 0.9 % smaller so than compress/gzip makes it, which has no
// matches of three bytes.
func gzipped(data []byte) []byte {
	w := writer{out: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}}
	all := tokens(data)
	for first := true; first || len(all) > 0; first = false {
		n := min(blockTokens, len(all))
		w.block(all[:n], n == len(all))
		all = all[n:]
	}
	w.bits(0, -w.n&7)
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(w.out, uint32(len(data)))
}

// token is a byte, if the length is 0, or a match.
type token struct{ length, value uint16 }

// tokens finds matches by chains of places with the same three bytes, and puts a match off while the next place has a
// longer one.
func tokens(data []byte) (all []token) {
	head, before := make([]int32, 1<<16), make([]int32, window)
	for k := range head {
		head[k] = -1
	}
	hash := func(i int) uint32 {
		return (uint32(data[i]) | uint32(data[i+1])<<8 | uint32(data[i+2])<<16) * 0x9e3779b1 >> 16
	}
	entered := 0 // the places before it are in the chains
	find := func(i, held int) (length, distance int) {
		most := min(longest, len(data)-i)
		if most < least {
			return 0, 0
		}
		for ; entered < i; entered++ {
			h := hash(entered)
			before[entered%window], head[h] = head[h], int32(entered)
		}
		length = max(held, least-1)
		at := head[hash(i)]
		for tries := mostTries; tries > 0 && at >= 0 && i-int(at) <= window-longest && length < most; tries-- {
			j, n := int(at), 0
			if data[j+length] == data[i+length] {
				for n < most && data[j+n] == data[i+n] {
					n++
				}
			}
			if n > length && (n > least || i-j <= near) {
				length, distance = n, i-j
			}
			at = before[at%window]
		}
		return length, distance
	}
	for i := 0; i < len(data); {
		length, distance := find(i, 0)
		if distance == 0 {
			all = append(all, token{0, uint16(data[i])})
			i++
			continue
		}
		for length < longest {
			longer, further := find(i+1, length)
			if further == 0 {
				break
			}
			all = append(all, token{0, uint16(data[i])})
			i, length, distance = i+1, longer, further
		}
		all = append(all, token{uint16(length), uint16(distance)})
		i += length
	}
	return all
}

// writer writes bits, the lowest first.
type writer struct {
	out  []byte
	hold uint64
	n    int
}

func (w *writer) bits(value uint64, n int) {
	w.hold |= value << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.hold))
		w.hold >>= 8
	}
}

// symbol returns the symbol of a length or distance less its least one, with its extra bits; each symbol has 1<<group
// successors with as many extra bits.
func symbol(x, group int) (s int, extra uint64, n int) {
	n = max(0, bits.Len(uint(x))-1-group)
	return n<<group + x>>n, uint64(x & (1<<n - 1)), n
}

// block writes a block with codes of its own.
func (w *writer) block(all []token, last bool) {
	count := [2][]int{make([]int, 286), make([]int, 30)}
	count[0][256] = 1
	lengthOf := func(t token) (int, uint64, int) {
		if t.length == longest {
			return 285, 0, 0
		}
		s, extra, n := symbol(int(t.length)-least, 2)
		return 257 + s, extra, n
	}
	for _, t := range all {
		if t.length == 0 {
			count[0][t.value]++
			continue
		}
		s, _, _ := lengthOf(t)
		count[0][s]++
		s, _, _ = symbol(int(t.value)-1, 1)
		count[1][s]++
	}
	var code [2]code
	var lengths []uint8
	var used [2]int
	for k := range code {
		code[k] = codeOf(count[k], 15)
		used[k] = len(count[k])
		for used[k] > []int{257, 1}[k] && code[k].length[used[k]-1] == 0 {
			used[k]--
		}
		lengths = append(lengths, code[k].length[:used[k]]...)
	}
	type run struct {
		symbol, extra uint64
		n             int
	}
	var runs []run
	counts := make([]int, 19)
	for i := 0; i < len(lengths); {
		n := 1
		for i+n < len(lengths) && lengths[i+n] == lengths[i] {
			n++
		}
		r := run{symbol: uint64(lengths[i])}
		switch {
		case lengths[i] == 0 && n >= 11:
			n = min(n, 138)
			r = run{18, uint64(n - 11), 7}
		case lengths[i] == 0 && n >= 3:
			r = run{17, uint64(n - 3), 3}
		case i > 0 && lengths[i] == lengths[i-1] && n >= 3:
			n = min(n, 6)
			r = run{16, uint64(n - 3), 2}
		default:
			n = 1
		}
		runs, i = append(runs, r), i+n
		counts[r.symbol]++
	}
	order := []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	c, told := codeOf(counts, 7), len(order)
	for told > 4 && c.length[order[told-1]] == 0 {
		told--
	}
	end := uint64(0)
	if last {
		end = 1
	}
	w.bits(end|2<<1, 3)
	w.bits(uint64(used[0]-257)|uint64(used[1]-1)<<5|uint64(told-4)<<10, 14)
	for _, s := range order[:told] {
		w.bits(uint64(c.length[s]), 3)
	}
	for _, r := range runs {
		w.bits(c.bits[r.symbol], int(c.length[r.symbol]))
		w.bits(r.extra, r.n)
	}
	put := func(k, s int, extra uint64, n int) {
		w.bits(code[k].bits[s], int(code[k].length[s]))
		w.bits(extra, n)
	}
	for _, t := range all {
		if t.length == 0 {
			put(0, int(t.value), 0, 0)
			continue
		}
		s, extra, n := lengthOf(t)
		put(0, s, extra, n)
		s, extra, n = symbol(int(t.value)-1, 1)
		put(1, s, extra, n)
	}
	put(0, 256, 0, 0)
}

// code is a canonical Huffman code, its bits the lowest first.
type code struct {
	length []uint8
	bits   []uint64
}

// codeOf returns a code for symbols that occur so often, with no word longer than most: counts are halved until that is
// so. O(n²) for n symbols.
func codeOf(count []int, most int) code {
	c := code{make([]uint8, len(count)), make([]uint64, len(count))}
	type tree struct {
		n       int
		symbols []int
	}
	for shift := 0; ; shift++ {
		var all []tree
		for s, n := range count {
			c.length[s] = 0
			if n > 0 {
				all = append(all, tree{(n-1)>>shift + 1, []int{s}})
			}
		}
		for s := 0; len(all) < 2; s++ { // a code has two words
			if count[s] == 0 {
				all = append(all, tree{1, []int{s}})
			}
		}
		for len(all) > 1 {
			slices.SortStableFunc(all, func(a, b tree) int { return cmp.Compare(a.n, b.n) })
			both := tree{all[0].n + all[1].n, append(slices.Clone(all[0].symbols), all[1].symbols...)}
			for _, s := range both.symbols {
				c.length[s]++
			}
			all = append(all[2:], both)
		}
		if int(slices.Max(c.length)) <= most {
			break
		}
	}
	next := uint64(0)
	for n := 1; n <= most; n++ {
		next <<= 1
		for s, length := range c.length {
			if int(length) == n {
				c.bits[s] = bits.Reverse64(next) >> (64 - n)
				next++
			}
		}
	}
	return c
}
