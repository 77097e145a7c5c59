// SPDX-License-Identifier: MIT

package require

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema compiles a published schema of a folder, and what it refers to.
func Schema(folder, name string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	const published = "https://raw.githubusercontent.com/gapwise/gapwise/main/docs/reference/schema/"
	for _, f := range files { // none is fetched: each is known by the address that its $id says
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = c.AddResource(published+filepath.Base(f), doc)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.Compile(published + name)
}
