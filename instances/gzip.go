// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// byteOrderMark is what some editors begin UTF-8 texts with.
var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// unzip unfolds gzip data; other data is returned as it is, but for a byte order mark
// that it begins with.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return bytes.TrimPrefix(data, byteOrderMark), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if int64(len(out)) > maxFile {
		return nil, fmt.Errorf("gzip: it unfolds to more than %d bytes, the most that is read", maxFile)
	}
	return bytes.TrimPrefix(out, byteOrderMark), nil
}
