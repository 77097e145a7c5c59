// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// byteOrderMark is the mark at the beginning of UTF-8 texts of some editors.
var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// unzip unfolds gzip data; it returns other data as it is, without a leading byte order mark.
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
