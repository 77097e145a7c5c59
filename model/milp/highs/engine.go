// SPDX-License-Identifier: MIT

//go:build !js

package highs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/gapwise/gapwise/internal/run/panics"
)

// engine is HiGHS compiled to machine code, which happens once a process and is kept in the user's cache.
type engine struct {
	runtime       wazero.Runtime
	highs, notify wazero.CompiledModule
}

// started returns the engine, which it has made next to the caller: that takes seconds on a machine that hasn't done so
// before, and a tenth of one from the cache. An error of ctx is returned as it is.
func started(ctx context.Context) (*engine, error) {
	starting.Do(func() {
		go func() {
			defer close(ready)
			if err := panics.Call(func() (err error) { made.engine, err = load(); return err }); err != nil {
				made.err = err
			}
		}()
	})
	select {
	case <-ready:
		return made.engine, made.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func load() (*engine, error) {
	open, err := found()
	if err != nil {
		return nil, err
	}
	data, err := open()
	if err != nil {
		return nil, err
	}
	e, err := compile(data, machineCode())
	if err != nil { // a cache on a full disk or of other users doesn't prevent solving
		e, err = compile(data, "")
	}
	return e, err
}

var (
	starting sync.Once
	ready    = make(chan struct{})
	made     struct { // read after ready is closed
		*engine
		err error
	}
)

// machineCode returns the folder of the compiled code, "" without one. Nobody else may write to it: its files are run.
func machineCode() string {
	cache, err := cacheFolder()
	if err != nil {
		return ""
	}
	folder := filepath.Join(cache, "machine-code")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return ""
	}
	return folder
}

func compile(data []byte, folder string) (*engine, error) {
	ctx := experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	config := wazero.NewRuntimeConfig()
	if folder != "" {
		cache, err := wazero.NewCompilationCacheWithDir(folder)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(cache)
	}
	e := &engine{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	err := e.host(ctx)
	if err == nil {
		e.highs, err = e.runtime.CompileModule(ctx, data)
	}
	if err == nil {
		e.notify, err = e.runtime.CompileModule(ctx, notifier())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errSolver, err), e.runtime.Close(ctx))
	}
	return e, nil
}

// host defines the functions that HiGHS imports. It has no files but the one that SolveFile pretends, no arguments and
// no environment, and its output goes nowhere.
func (e *engine) host(ctx context.Context) error {
	const i32, i64, f64 = api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF64
	b := e.runtime.NewHostModuleBuilder("a")
	define := func(name string, params, results []api.ValueType, f func(s *instance, stack []uint64)) {
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
			f(ctx.Value(instanceKey{}).(*instance), stack)
		}), params, results).Export(imports[name])
	}
	none, one := []api.ValueType{}, []api.ValueType{i32}
	ints := func(n int) []api.ValueType { return slices.Repeat(one, n) }
	lost := func(s *instance, _ []uint64) {
		if s.full {
			panic(errMemory)
		}
		panic(errLost)
	}
	zero := func(_ *instance, stack []uint64) { stack[0] = 0 }
	nothing := func(*instance, []uint64) {}
	define("__cxa_throw", ints(3), none, lost)
	define("_abort_js", none, none, lost)
	define("exit", one, none, lost)
	define("proc_exit", one, none, lost)
	define("__syscall_fcntl64", ints(3), one, zero)
	define("__syscall_ioctl", ints(3), one, zero)
	define("_setitimer_js", []api.ValueType{i32, f64}, one, zero)
	define("_tzset_js", ints(4), none, nothing)
	define("_emscripten_runtime_keepalive_clear", none, none, nothing)
	define("environ_get", ints(2), one, zero)
	define("environ_sizes_get", ints(2), one, func(s *instance, stack []uint64) {
		s.memory.WriteUint32Le(uint32(stack[0]), 0)
		s.memory.WriteUint32Le(uint32(stack[1]), 0)
		stack[0] = 0
	})
	now := func(s *instance, stack []uint64) { stack[0] = api.EncodeF64(float64(s.now()) / 1e6) }
	define("emscripten_date_now", none, []api.ValueType{f64}, now)
	define("emscripten_get_now", none, []api.ValueType{f64}, now)
	define("clock_time_get", []api.ValueType{i32, i64, i32}, one, func(s *instance, stack []uint64) {
		s.memory.WriteUint64Le(uint32(stack[2]), uint64(s.now()))
		stack[0] = 0
	})
	define("emscripten_resize_heap", one, one, func(s *instance, stack []uint64) {
		have, want := uint64(s.memory.Size()), uint64(uint32(stack[0]))
		stack[0] = 1
		if want <= have {
			return
		}
		// A fifth more than asked for, so that growing copies each byte a few times only.
		const page = 1 << 16
		for _, size := range []uint64{want + want/5, want} {
			if _, ok := s.memory.Grow(uint32((size - have + page - 1) / page)); ok {
				return
			}
		}
		stack[0], s.full = 0, true
	})
	define("fd_close", one, one, zero)
	define("__syscall_openat", ints(4), one, func(s *instance, stack []uint64) {
		const noEntry = -44
		if stack[0] = api.EncodeI32(noEntry); s.content != nil {
			s.at, stack[0] = 0, pretended
		}
	})
	define("fd_write", ints(4), one, func(s *instance, stack []uint64) {
		total := uint32(0)
		for _, part := range s.parts(stack) {
			total += part.size
		}
		s.memory.WriteUint32Le(uint32(stack[3]), total)
		stack[0] = 0
	})
	define("fd_read", ints(4), one, func(s *instance, stack []uint64) {
		total := uint32(0)
		for _, part := range s.parts(stack) {
			n := min(int(part.size), len(s.content)-s.at)
			s.memory.Write(part.at, s.content[s.at:s.at+n])
			s.at, total = s.at+n, total+uint32(n)
		}
		s.memory.WriteUint32Le(uint32(stack[3]), total)
		stack[0] = 0
	})
	define("fd_seek", []api.ValueType{i32, i64, i32, i32}, one, func(s *instance, stack []uint64) {
		at := int(int64(stack[1]))
		switch uint32(stack[2]) {
		case 1:
			at += s.at
		case 2:
			at += len(s.content)
		}
		s.at = max(0, min(at, len(s.content)))
		s.memory.WriteUint64Le(uint32(stack[3]), uint64(s.at))
		stack[0] = 0
	})
	if _, err := b.Instantiate(ctx); err != nil {
		return err
	}
	b = e.runtime.NewHostModuleBuilder("gapwise")
	b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
		s := ctx.Value(instanceKey{}).(*instance)
		s.callback(int(int32(stack[0])), uint32(stack[1]), uint32(stack[2]), uint32(stack[3]))
	}), ints(5), none).Export("notify")
	_, err := b.Instantiate(ctx)
	return err
}
