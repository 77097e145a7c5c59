// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/heuristics/batch"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/run/cpu"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// BenchmarkBatchPipeline reports the CPU seconds of each part of solving 200,000 jobs of the Feitelson model on one
// tier by EASY. They come from a file of our format or of a gzipped SWF log of the same jobs. The parts are read
// (decode and validate), hash, simulate (with the processors of each job), judge and bound (the quick bounds, which
// solving makes). The garbage collector counts for the part that it interrupts.
func BenchmarkBatchPipeline(b *testing.B) {
	spec := instances.NewBatchSpec()
	spec.Jobs, spec.Tiers, spec.Load, spec.Seed = 200_000, 1, 0.8, 1
	in := require.Value(spec.Generate())(b)
	folder := b.TempDir()
	data := require.Value(json.Marshal(in))(b)
	for name, data := range map[string][]byte{"jobs.json": data, "jobs.swf.gz": gzipped(b, asSWF(in))} {
		require.OK(b, os.WriteFile(filepath.Join(folder, name), data, 0o644))
	}
	b.Run("json", func(b *testing.B) {
		read := func() (model.Instance, error) { return instances.Load(filepath.Join(folder, "jobs.json")) }
		benchmarkPipeline(b, read, "simulate", easy)
	})
	b.Run("swf", func(b *testing.B) {
		one := instances.NewBatchSpec()
		one.Tiers, one.Jobs = 1, 0
		benchmarkPipeline(b, func() (model.Instance, error) {
			log, err := instances.LoadLog(filepath.Join(folder, "jobs.swf.gz"), instances.LogOptions{})
			if err != nil {
				return nil, err
			}
			in, _, err := instances.FromSWF(&one, "jobs", log, instances.SWFJobs{})
			return in, err
		}, "simulate", easy)
	})
}

func easy(ctx context.Context, in model.Instance) (model.Solution, error) {
	return batch.EASY(ctx, in.(*model.Batch), model.Settings{})
}

// BenchmarkDAGPipeline is BenchmarkBatchPipeline of HEFT for graphs of three edges a task on 16 machines; it shows
// growth.
func BenchmarkDAGPipeline(b *testing.B) {
	for _, c := range []struct {
		tasks   int
		density float64
	}{{10_000, 0.05}, {100_000, 0.015}} {
		spec := instances.NewDAGSpec()
		spec.Tasks, spec.Machines, spec.Density, spec.Seed = c.tasks, 16, c.density, 1
		in := require.Value(spec.Generate())(b)
		data := require.Value(json.Marshal(in))(b)
		b.Run(fmt.Sprintf("tasks=%d", c.tasks), func(b *testing.B) {
			read := func() (model.Instance, error) { return model.DecodeInstance(data) }
			benchmarkPipeline(b, read, "heft", func(ctx context.Context, in model.Instance) (model.Solution, error) {
				return dagheur.HEFT(ctx, in.(*model.DAG), model.Settings{})
			})
		})
	}
}

// benchmarkPipeline reports the CPU seconds of reading, hashing, solving (by that name), judging
// and bounding.
func benchmarkPipeline(b *testing.B, read func() (model.Instance, error), name string,
	solve func(context.Context, model.Instance) (model.Solution, error)) {
	var parts [5]time.Duration
	names := [...]string{"read", "hash", name, "judge", "bound"}
	for range b.N {
		start, k := cpu.Time(), 0
		lap := func(err error) {
			require.OK(b, err)
			now := cpu.Time()
			parts[k] += now - start
			start, k = now, k+1
		}
		in, err := read()
		lap(err)
		sum, err := model.Hash(in)
		lap(err)
		e, err := solve(b.Context(), in)
		lap(err)
		report, err := verify.Verify(b.Context(), in, e, verify.Options{Valid: true})
		if err == nil {
			err = report.Err()
		}
		lap(err)
		p := require.Value(gapwise.ProblemOf(in.Kind()))(b)
		if all := p.Quick(b.Context(), in); len(all) == 0 || sum == "" {
			b.Fatal("no bounds, or no hash")
		}
		lap(nil)
	}
	total := time.Duration(0)
	for k, d := range parts {
		b.ReportMetric(d.Seconds()/float64(b.N), names[k]+"-sec/op")
		total += d
	}
	b.ReportMetric(total.Seconds()/float64(b.N), "cpu-sec/op")
}

// asSWF returns the jobs as an SWF log. Submissions are whole seconds there.
func asSWF(in *model.Batch) []byte {
	var log bytes.Buffer
	fmt.Fprintf(&log, "; Version: 2.2\n; MaxProcs: %d\n", in.Processors)
	for k := range in.Jobs {
		j := &in.Jobs[k]
		fmt.Fprintf(&log, "%d %d -1 %.0f %d -1 -1 %d %.0f -1 1 1 1 1 1 1 -1 -1\n", k+1, int(j.SubmitS), j.RuntimeS, j.Processes, j.Processes, j.EstimateS)
	}
	return log.Bytes()
}

func gzipped(b *testing.B, data []byte) []byte {
	var all bytes.Buffer
	z := gzip.NewWriter(&all)
	require.OK(b, require.Err(z.Write(data)))
	require.OK(b, z.Close())
	return all.Bytes()
}
