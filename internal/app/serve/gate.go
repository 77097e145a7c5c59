// SPDX-License-Identifier: MIT

package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// gate bounds how much is at work at once, and the memory that requests may hold.
type gate struct {
	slots   chan struct{} // one for each solve that runs
	reading chan struct{} // one for each body that is decoded
	most    int64         // requests that run or wait
	inside  atomic.Int64
	weight  atomic.Int64 // of the requests inside, in bytes
	heaviest, mostWeight,
	mostLive int64

	mu     sync.Mutex
	looked time.Time // when the heap was last collected to measure it
}

func newGate(c Config) *gate {
	return &gate{slots: make(chan struct{}, c.AtOnce), reading: make(chan struct{}, c.AtOnce),
		most: int64(c.AtOnce + c.Waiting), heaviest: c.Body, mostWeight: c.Memory / 16, mostLive: c.Memory / 2}
}

// busy reports whether any request runs or waits.
func (g *gate) busy() bool { return g.inside.Load() > 0 }

// pass is a request's place, and its resources.
type pass struct {
	*gate
	mine int64
	once sync.Once
}

// enter returns a place, or why there is none.
func (g *gate) enter() (*pass, error) {
	if live := g.live(); live > g.mostLive {
		return nil, busyf("%d MB of memory are in use, new work is taken below %d", live>>20, g.mostLive>>20)
	}
	if g.inside.Add(1) > g.most {
		g.inside.Add(-1)
		return nil, busyf("%d requests run or wait, more are not taken", g.most)
	}
	return &pass{gate: g}, nil
}

// leave gives the place back. It may be called again.
func (p *pass) leave() {
	p.once.Do(func() {
		p.weight.Add(-p.mine)
		p.inside.Add(-1)
	})
}

// hold adds bytes to the request's.
func (p *pass) hold(n int64) error {
	if p.mine += n; p.mine > p.heaviest {
		p.weight.Add(n)
		return failuref(http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("send a smaller instance, or start the service with --body %d or more", (p.mine+1<<20-1)>>20),
			"the request weighs %d bytes or more, the most is %d", p.mine, p.heaviest)
	}
	if p.weight.Add(n) > p.mostWeight {
		return busyf("requests of %d bytes are held, more are not taken", p.mostWeight)
	}
	return nil
}

// read reads a body to its end.
func (p *pass) read(r io.Reader) ([]byte, error) {
	var all []byte
	chunk := make([]byte, 16<<10)
	for {
		n, err := r.Read(chunk)
		if e := p.hold(int64(n)); e != nil {
			return nil, e
		}
		all = append(all, chunk[:n]...)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, failuref(http.StatusRequestTimeout, "body", "send it again", "the body can't be read to its end: %v", err)
		}
	}
}

// acquire waits for one of some slots; the returned function gives it back.
func acquire(ctx context.Context, slots chan struct{}) (func(), error) {
	select {
	case slots <- struct{}{}:
		if ctx.Err() == nil {
			return func() { <-slots }, nil
		}
		<-slots
	case <-ctx.Done():
	}
	return nil, ctx.Err()
}

const liveBytes = "/gc/heap/live:bytes"

// live returns the bytes that were alive when the heap was collected last. If they are too many it collects the heap
// again, once a second: an idle service collects nothing by itself.
func (g *gate) live() int64 {
	live := sample(liveBytes)
	if live <= g.mostLive {
		return live
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.looked) > time.Second {
		runtime.GC()
		g.looked = time.Now()
	}
	return sample(liveBytes)
}

// sample returns a figure of the runtime, 0 if it doesn't know it.
func sample(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}
