// Package replace writes files wholly or not at all: to a temporary file beside them,
// which is then renamed.
package replace
