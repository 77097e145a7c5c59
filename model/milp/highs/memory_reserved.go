// SPDX-License-Identifier: MIT

//go:build linux || darwin

package highs

import (
	"context"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// withMemory has an instance's memory reserved whole and used as it grows. A slice of Go's is copied with each growth,
// and three times the memory of a large model is garbage. wazero's own slices do if it can't be reserved (a limit on
// addresses).
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(least, most uint64) experimental.LinearMemory {
		all, err := unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			return &grown{}
		}
		return reserved(all)
	}))
}

// reserved is memory in partial use; the system has pages for the touched part.
type reserved []byte

// Reallocate implements experimental.LinearMemory.
func (r reserved) Reallocate(size uint64) []byte {
	if size > uint64(len(r)) {
		return nil
	}
	return r[:size]
}

// Free implements experimental.LinearMemory.
func (r reserved) Free() { _ = unix.Munmap(r) }

// grown is memory of Go's.
type grown struct{ all []byte }

// Reallocate implements experimental.LinearMemory.
func (g *grown) Reallocate(size uint64) []byte {
	if more := int(size) - len(g.all); more > 0 {
		g.all = append(g.all, make([]byte, more)...)
	}
	return g.all[:size]
}

// Free implements experimental.LinearMemory.
func (g *grown) Free() { g.all = nil }
