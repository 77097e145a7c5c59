// SPDX-License-Identifier: MIT

//go:build !cgo || nohighs

package need

const builtWithHiGHS = false
