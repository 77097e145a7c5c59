// SPDX-License-Identifier: MIT

package benchmarks

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/model"
)

// keep writes a run's result with its solution, wholly or not at all, to a file of the folder. It returns the file's
// name as seen from the folder of the results. It does nothing without a solution.
func keep(r *runs.Record, folder, results string, res model.Result) (string, error) {
	if folder == "" || res.Solution == nil {
		return "", nil
	}
	data, err := json.Marshal(res)
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, solutionFile(r))
	if err := replace.File(file, append(data, '\n')); err != nil {
		return "", fmt.Errorf("%w solutions: can't write %s: %w", model.ErrInvalid, file, err)
	}
	return filepath.ToSlash(relative(results, file)), nil
}

// solutionFile names the run's file in words, and by a digest that distinguishes it from the plan's other runs.
func solutionFile(r *runs.Record) string {
	return fmt.Sprintf("%s-%s-%d-%.4x.json", runs.FileWord(filepath.Base(r.Instance), 80), runs.FileWord(r.Algorithm, 40), r.Seed, sha256.Sum256([]byte(r.Key())))
}

// relative returns the path of a file as seen from a folder, or the file if there is
// none.
func relative(folder, file string) string {
	from, err := filepath.Abs(folder)
	if err != nil {
		return file
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(from, to); err == nil {
		return rel
	}
	return to
}
