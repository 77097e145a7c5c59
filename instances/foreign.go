package instances

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// LoadOn is Load that also reads task graphs in foreign formats, which know no
// machines: DOT (.dot, .gv), the Standard Task Graph format (.stg), WfFormat
// (JSON with the key "workflow"). Those need a platform (see ParsePlatform), own
// files take none. Any file may be gzipped.
func LoadOn(path, platform string) (model.Instance, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (model.Instance, error) { return nil, fmt.Errorf("%s: %w", Label(path), err) }
	if data, err = unzip(data); err != nil {
		return fail(fmt.Errorf("%w: %w", model.ErrInvalid, err))
	}
	base := strings.TrimSuffix(filepath.Base(path), ".gz")
	read := foreignReader(base, data)
	if read == nil {
		if platform != "" {
			return fail(fmt.Errorf("%w: it is an instance with machines of its own, leave the platform out", model.ErrInvalid))
		}
		in, err := model.DecodeInstance(data)
		if err != nil {
			return fail(err)
		}
		return in, nil
	}
	if platform == "" {
		return fail(fmt.Errorf("%w: the file tells tasks and no machines, give a platform (such as uniform,machines=4)", model.ErrInvalid))
	}
	p, err := ParsePlatform(platform)
	if err != nil {
		return nil, err
	}
	w, err := read(data)
	if err != nil {
		return fail(err)
	}
	d, err := p.Place(strings.TrimSuffix(base, filepath.Ext(base)), w)
	if err != nil {
		return fail(err)
	}
	return d, nil
}

// foreignReader is the reader of a foreign format, nil for the own one.
func foreignReader(name string, data []byte) func([]byte) (Workflow, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".dot", ".gv":
		return ReadDOT
	case ".stg":
		return ReadSTG
	}
	text := bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(text, []byte("digraph")), bytes.HasPrefix(text, []byte("strict")), bytes.HasPrefix(text, []byte("graph")), bytes.HasPrefix(text, []byte("//")):
		return ReadDOT
	case len(text) > 0 && text[0] >= '0' && text[0] <= '9':
		return ReadSTG
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(data, &keys) == nil && keys["workflow"] != nil && keys["kind"] == nil {
		return ReadWfFormat
	}
	return nil
}
