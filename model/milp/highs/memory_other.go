// SPDX-License-Identifier: MIT

//go:build !linux && !darwin && !js

package highs

import "context"

// withMemory leaves an instance's memory to wazero.
func withMemory(ctx context.Context) context.Context { return ctx }
