package instances

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// maxUnzipped bounds what a compressed file unfolds to.
const maxUnzipped = 2 << 30

// unzip unfolds gzip data; other data is returned as it is.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxUnzipped+1))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if len(out) > maxUnzipped {
		return nil, fmt.Errorf("gzip: the file unfolds to more than %d bytes", maxUnzipped)
	}
	return out, nil
}
