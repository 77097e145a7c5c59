// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gapwise/gapwise/model"
)

// LoadOn reads an instance as Load does, and task graphs in foreign formats, which have no machines. The formats are
// DOT (.dot, .gv), the Standard Task Graph format (.stg), WfFormat (JSON with the key "workflow") and task graphs of
// SAGA. Those need a platform (see ParsePlatform); own files take none, and SAGA's problem instances have a network,
// which a platform replaces. The content decides about other extensions, and any file may be gzipped. A foreign graph
// is named after its file, without extensions, unless it has a name. The platform "hosts=N" may give the number of
// hosts for vector bin packing (.vbp, see ReadVBP); else it is VBP.FirstFit. A workload of Batsim (JSON with the keys
// "jobs" and "profiles") is a batch instance.
func LoadOn(path, platform string) (model.Instance, error) {
	in, _, err := LoadAssuming(path, platform, true)
	return in, err
}

// LoadAssuming is LoadOn. It also returns, in a sentence, the facts that neither the file nor the platform gives
// (Platform.assumed); "" for none. Unless the platform must be of use, files that need none do without it.
func LoadAssuming(path, platform string, used bool) (in model.Instance, assumed string, err error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	return decode(path, data, platform, used)
}

// Decode is LoadOn for the data of a file of this name, gzipped or not, and returns the assumptions as LoadAssuming
// does.
func Decode(name string, data []byte, platform string) (in model.Instance, assumed string, err error) {
	if data, err = unzip(data); err != nil {
		return nil, "", fmt.Errorf("%s: %w: %w", name, model.ErrInvalid, err)
	}
	return decode(name, data, platform, true)
}

func decode(path string, data []byte, platform string, used bool) (in model.Instance, assumed string, err error) {
	fail := func(err error) (model.Instance, string, error) {
		return nil, "", fmt.Errorf("%s: %w", Label(path), err)
	}
	name, extension := nameOf(path)
	if extension == ".swf" {
		return fail(fmt.Errorf("%w: an SWF log is no instance, make one of its jobs with gapwise convert", model.ErrInvalid))
	}
	if extension == ".vbp" || extension != ".stg" && isVBP(data) {
		if !used && !strings.HasPrefix(platform, "hosts=") {
			platform = "" // of task graphs
		}
		in, err := loadVBP(name, data, platform)
		if err == nil && !utf8.ValidString(name) {
			err = errNameNotUTF8
		}
		if err != nil {
			return fail(err)
		}
		return in, "", nil
	}
	var keys map[string]json.RawMessage
	if kindAtStart(bytes.NewReader(data)) == "" { // own files may be large
		keys = jsonKeys(data)
	}
	if isBatsim(keys) {
		b, assumed, err := readBatsim(name, data)
		switch {
		case err != nil:
		case platform != "" && used:
			err = fmt.Errorf("%w: it is a workload with all that it needs, leave the platform out", model.ErrInvalid)
		case !utf8.ValidString(name):
			err = errNameNotUTF8
		}
		if err != nil {
			return fail(err)
		}
		return b, assumed, nil
	}
	read := foreignReader(extension, data, keys)
	if read == nil {
		in, err := model.DecodeInstance(data)
		if err == nil {
			data = nil // instances may be large
		} else if seems := Unread(data); seems != "" {
			err = fmt.Errorf("%w instance: it looks like %s", model.ErrInvalid, seems)
		}
		if err != nil {
			return fail(err)
		}
		if platform != "" && used {
			return fail(fmt.Errorf("%w: it is an instance with all that it needs, leave the platform out", model.ErrInvalid))
		}
		return in, "", nil
	}
	if !utf8.ValidString(name) {
		return fail(errNameNotUTF8)
	}
	w, err := Workflow{}, model.CheckText(data)
	if err == nil {
		w, err = read(data)
	}
	if err != nil {
		return fail(err)
	}
	if w.Name != "" {
		name = w.Name
	}
	var p Platform
	switch {
	case platform != "":
		if p, err = ParsePlatform(platform); err != nil {
			return nil, "", err
		}
	case w.Platform != nil:
		p = *w.Platform
	default:
		return fail(fmt.Errorf("%w: the file tells tasks and no machines, give a platform (such as uniform,machines=4)", model.ErrInvalid))
	}
	d, err := p.Place(name, w)
	if err != nil {
		return fail(err)
	}
	return d, p.assumed(w), nil
}

var errNameNotUTF8 = fmt.Errorf("%w: the file's name isn't UTF-8, and the instance would be called by it; rename it", model.ErrInvalid)

// nameOf returns a file's base name without its extensions (.gz and the one
// before), and that extension in lower case.
func nameOf(path string) (name, extension string) {
	if path == "-" {
		return "stdin", ""
	}
	name = filepath.Base(path)
	if e := filepath.Ext(name); strings.EqualFold(e, ".gz") {
		name = strings.TrimSuffix(name, e)
	}
	extension = filepath.Ext(name)
	return strings.TrimSuffix(name, extension), strings.ToLower(extension)
}

// foreignReader returns the reader of a foreign format, nil for the own one. The keys come from jsonKeys.
func foreignReader(extension string, data []byte, keys map[string]json.RawMessage) func([]byte) (Workflow, error) {
	switch extension {
	case ".dot", ".gv":
		return readDOT
	case ".stg":
		return ReadSTG
	}
	if kindAtStart(bytes.NewReader(data)) != "" {
		return nil
	}
	text := withoutComments(data)
	switch word := strings.ToLower(string(text[:min(len(text), len("digraph"))])); {
	case strings.HasPrefix(word, "digraph"), strings.HasPrefix(word, "strict"), strings.HasPrefix(word, "graph"):
		return readDOT
	case len(text) > 0 && isDigit(text[0]) && !IsTable(text):
		return ReadSTG
	}
	switch {
	case keys["workflow"] != nil && keys["kind"] == nil:
		return readWfFormat
	case isSAGA(keys):
		return readSAGA
	}
	return nil
}

// foreignWords are keys without which a JSON file is no foreign graph or network.
var foreignWords = [][]byte{[]byte(`"workflow"`), []byte(`"task_graph"`), []byte(`"dependencies"`), []byte(`"nodes"`), []byte(`"pairs"`),
	[]byte(`"profiles"`)}

// jsonKeys returns the keys of a JSON object that may be a foreign file; none of
// others.
func jsonKeys(data []byte) map[string]json.RawMessage {
	if !slices.ContainsFunc(foreignWords, func(w []byte) bool { return bytes.Contains(data, w) }) {
		return nil
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(finite(data), &keys) != nil {
		return nil
	}
	return keys
}

// withoutComments returns the text after its leading white space and comments
// (of DOT and STG).
func withoutComments(data []byte) []byte {
	for {
		data = bytes.TrimSpace(data)
		end := "\n"
		switch {
		case bytes.HasPrefix(data, []byte("/*")):
			end = "*/"
		case !bytes.HasPrefix(data, []byte("//")) && !bytes.HasPrefix(data, []byte("#")):
			return data
		}
		_, data, _ = bytes.Cut(data, []byte(end))
	}
}
