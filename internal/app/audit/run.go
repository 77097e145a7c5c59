// SPDX-License-Identifier: MIT

package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/model"
)

// Options of Run. The zero value of a field means its default.
type Options struct {
	Time time.Duration // how long instances are drawn; 0: until there are enough
	// Instances, if not 0, is about how many are drawn of each kind. If time isn't up before, the same are drawn and
	// the same is compared on every machine and with any number of workers.
	Instances int64
	Seed      uint64
	Workers   int          // default 1
	Kinds     []model.Kind // default Kinds()
	// Variant, one of Variants, has only its problem audited, and of that only such instances.
	Variant string
	// Most is at how many disagreements the audit ends; default 10.
	Most int
	// Folder takes the shrunk instances of disagreements, two files each;
	// "": none are written.
	Folder string
	// Progress, if not nil, is called now and then, from one goroutine at a time.
	Progress func(t *Tally, elapsed time.Duration)
	// Found, if not nil, is called for each disagreement, shrunk.
	Found func(d Disagreement, file string)
}

// Report is the result of an audit. As JSON it has the counts.
type Report struct {
	*Tally
	Disagreements []Disagreement `json:"-"`
	Elapsed       time.Duration  `json:"elapsed_ns"`
	Seed          uint64         `json:"seed"`
}

// Run draws instances and compares the claims on them until the time is up or there are enough. An instance depends on
// the seed, its stream and its number there alone. The error is for a folder that can't be written, or wraps
// model.ErrUnsupported for a problem that isn't among Kinds; ctx ends the audit early and isn't an error.
func Run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	if o.Most == 0 {
		o.Most = 10
	}
	if len(o.Kinds) == 0 {
		o.Kinds = Kinds()
	}
	for _, k := range o.Kinds {
		if _, err := gapwise.ProblemOf(k); err != nil {
			return nil, fmt.Errorf("audit: %w, give some of %q", err, Kinds())
		}
	}
	if v, ok := variants[o.Variant]; ok {
		o.Kinds = []model.Kind{v.kind}
	} else if o.Variant != "" {
		return nil, fmt.Errorf("audit: %w variant: %q is unknown, give one of %q", model.ErrInvalid, o.Variant, Variants())
	}
	if o.Folder != "" {
		if err := replace.Folder(o.Folder); err != nil {
			return nil, err
		}
	}
	report := &Report{Tally: NewTally(), Seed: o.Seed}
	drawing, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	shown := began
	queue := newStreams(o.Kinds, o.Variant, o.Instances)
	seen := map[string]bool{}
	found := func(d Disagreement) error {
		mu.Lock()
		enough := len(report.Disagreements) >= o.Most
		// One of a kind is enough; the check names it.
		key := string(d.Instance.Kind()) + " " + d.Check
		known := seen[key]
		seen[key] = true
		mu.Unlock()
		if enough || known {
			return nil
		}
		d = shrink(ctx, d)
		mu.Lock()
		defer mu.Unlock()
		report.Disagreements = append(report.Disagreements, d)
		if len(report.Disagreements) >= o.Most {
			stop()
		}
		file, err := "", error(nil)
		if o.Folder != "" {
			file, err = d.write(o.Folder)
		}
		if o.Found != nil {
			o.Found(d, file)
		}
		return err
	}
	show := func() {
		mu.Lock()
		defer mu.Unlock()
		if o.Progress != nil && time.Since(shown) > time.Second {
			shown = time.Now()
			o.Progress(report.Tally, time.Since(began))
		}
	}
	var g errgroup.Group
	for range max(1, o.Workers) {
		g.Go(func() error {
			return panics.Call(func() error {
				for drawing.Err() == nil && (o.Time == 0 || time.Since(began) < o.Time) {
					s, number := queue.next()
					if s == nil {
						break
					}
					started := time.Now()
					c := s.trial(drawing, o.Seed, number)
					c.tally = report.Tally
					c.tally.drew(c.in.Kind(), c.size)
					c.run()
					queue.took(s, time.Since(started))
					for _, d := range c.found {
						if err := found(d); err != nil {
							return err
						}
					}
					show()
				}
				return nil
			})
		})
	}
	err := g.Wait()
	report.Elapsed = time.Since(began)
	return report, err
}

// write stores the instance and, in a second file, the error in it.
func (d Disagreement) write(folder string) (string, error) {
	path := filepath.Join(folder, fmt.Sprintf("%s-%s-%d-%d.json", d.Instance.Kind(), said(d.Check), d.Seed, d.Number))
	data, err := json.MarshalIndent(d.Instance, "", " ")
	if err != nil {
		return "", fmt.Errorf("audit: %w", err)
	}
	text := fmt.Sprintf("%s\n%s\ninstance %d of seed %d, shrunk\n", d.Check, d.Reason, d.Number, d.Seed)
	for file, content := range map[string][]byte{path: append(data, '\n'), path[:len(path)-len(".json")] + ".txt": []byte(text)} {
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return "", fmt.Errorf("audit: %w", err)
		}
	}
	return path, nil
}
