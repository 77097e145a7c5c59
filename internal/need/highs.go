//go:build cgo && !nohighs

package need

const builtWithHiGHS = true
