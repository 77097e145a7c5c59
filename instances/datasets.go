// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// DataFolder returns the folder of the public data sets, the value of
// GAPWISE_DATA; empty if that isn't set. Each kind has a folder in it: swf,
// dags.
func DataFolder() string { return os.Getenv("GAPWISE_DATA") }

// inDataSets returns the path of a data set's file with the given name and one
// of the extensions. It is empty if there is none, and if the name has a
// folder.
func inDataSets(set, name string, extensions ...string) string {
	if DataFolder() == "" || strings.ContainsRune(name, filepath.Separator) {
		return ""
	}
	for _, e := range extensions {
		file := filepath.Join(DataFolder(), set, name+e)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// whereToGet says what to do, after the error that a file isn't there.
func whereToGet(set, name string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		return ""
	}
	where := "set GAPWISE_DATA to the folder of data sets"
	if f := DataFolder(); f != "" {
		where = fmt.Sprintf("GAPWISE_DATA is %s", f)
	}
	return fmt.Sprintf(" here, nor in GAPWISE_DATA/%s (%s); give its path, or put it there", set, where)
}
