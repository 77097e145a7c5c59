// SPDX-License-Identifier: MIT

// Package null recognises values that are missing.
package null

import "reflect"

// Is reports whether x is nil, or an interface's nil pointer.
func Is(x any) bool {
	if x == nil {
		return true
	}
	v := reflect.ValueOf(x)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
