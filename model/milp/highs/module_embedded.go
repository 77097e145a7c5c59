// SPDX-License-Identifier: MIT

//go:build highs && !js

package highs

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"io"
	"os"
)

// packed is the file that scripts/highs --embed puts here for the tag highs: in releases, wheels and images.
//
//go:embed highs.wasm.gz
var packed []byte

// handed returns the function that reads HiGHS: out of this program, unless GAPWISE_HIGHS names a file.
func handed() (open func() ([]byte, error), missing error) {
	if os.Getenv("GAPWISE_HIGHS") != "" {
		return find()
	}
	return func() ([]byte, error) {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(z)
		return data, errors.Join(err, checkDigest(data, "the file in this program"))
	}, nil
}
