// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
)

// byteOrderMark is the mark at the beginning of UTF-8 texts of some editors.
var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// utf8Of returns a text in UTF-8 without a byte order mark. Texts with the mark of UTF-16, as Windows PowerShell writes what
// kubectl and squeue print, are decoded; others stay as they are.
func utf8Of(data []byte) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	switch {
	case len(data)%2 == 1:
		return bytes.TrimPrefix(data, byteOrderMark)
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	case !bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return bytes.TrimPrefix(data, byteOrderMark)
	}
	units := make([]uint16, len(data)/2-1)
	for k := range units {
		units[k] = order.Uint16(data[2*k+2:])
	}
	return []byte(string(utf16.Decode(units)))
}

// unzip unfolds gzip data; it returns other data as it is, but a text as utf8Of does.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return utf8Of(data), nil
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
	return utf8Of(out), nil
}
