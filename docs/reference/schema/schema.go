// SPDX-License-Identifier: MIT

// Package schema holds the published JSON Schemas of files.
package schema

import "embed"

// Files are the schemas, as NAME.json.
//
//go:embed *.json
var Files embed.FS
