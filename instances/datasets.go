package instances

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// DataFolder is the folder of the public data sets, which GAPWISE_DATA names;
// empty if it names none. It has a folder for each kind: swf, dags.
func DataFolder() string { return os.Getenv("GAPWISE_DATA") }

// inDataSets is the path of a file of a data set's folder, by its name with one
// of the extensions after it; empty if there is none, or if the name has a
// folder of its own.
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

// whereToGet tells, after the error that a file isn't there, what to do.
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
