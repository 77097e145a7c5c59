// SPDX-License-Identifier: MIT

//go:build !js

package highs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// The file that HiGHS is read from.
const (
	moduleName   = "highs-" + packageVersion + ".wasm"
	moduleSize   = 3531385
	moduleDigest = "528be4365bea1d4188988646b244263f50320df55782e14d6af5bce7cd45c840" // SHA-256
)

// remedy explains how to get HiGHS here.
const remedy = "run scripts/highs of the checkout, or set GAPWISE_HIGHS to build/highs.wasm of npm's package highs@" +
	packageVersion

// missing returns nil if HiGHS is there, else an error that wraps ErrMissing.
func missing() error {
	_, err := found()
	return err
}

// Use hands HiGHS over: build/highs.wasm of npm's highs, at the version that ErrMissing names. It
// must be called before the first solve; another file than that is an error.
func Use(data []byte) error {
	if err := checkDigest(data, "the file handed over"); err != nil {
		return err
	}
	the.Lock()
	defer the.Unlock()
	the.looked, the.open, the.missing = true, func() ([]byte, error) { return data, nil }, nil
	return nil
}

// the is where this process has HiGHS from.
var the struct {
	sync.Mutex
	looked  bool
	open    func() ([]byte, error)
	missing error
}

// found returns the function that reads HiGHS.
func found() (open func() ([]byte, error), missing error) {
	the.Lock()
	defer the.Unlock()
	if !the.looked {
		the.looked = true
		the.open, the.missing = handed()
	}
	return the.open, the.missing
}

// find looks for the file: in GAPWISE_HIGHS, which must be right if it is set, and in the user's cache.
func find() (open func() ([]byte, error), missing error) {
	file := os.Getenv("GAPWISE_HIGHS")
	asked := file != ""
	if !asked {
		cache, err := cacheFolder()
		if err != nil {
			return nil, ErrMissing
		}
		file = filepath.Join(cache, moduleName)
	}
	switch info, err := os.Stat(file); {
	case err == nil && info.Size() == moduleSize:
		return func() ([]byte, error) {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("%w (%w)", ErrMissing, err)
			}
			return data, checkDigest(data, file)
		}, nil
	case err == nil:
		return nil, notHiGHS(file)
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return nil, ErrMissing
	default:
		return nil, fmt.Errorf("%w (%w)", ErrMissing, err)
	}
}

// cacheFolder returns the folder in which scripts/highs puts the file, and this package its machine code.
func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "gapwise"), err
}

func checkDigest(data []byte, file string) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != moduleDigest {
		return notHiGHS(file)
	}
	return nil
}

func notHiGHS(file string) error {
	return fmt.Errorf("%w (%q is another file: its SHA-256 isn't %s)", ErrMissing, file, moduleDigest)
}
