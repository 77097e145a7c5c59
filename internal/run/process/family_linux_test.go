// SPDX-License-Identifier: MIT

package process

import (
	"context"
	"testing"
	"time"
)

// A child that has left the process group is killed, whether its parent lives or not, when the program ends by itself
// and when its time is over.
func TestSessionsAreKilled(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"the parent lives":     `setsid sh -c 'echo $$ >$FILE; exec sleep 60' & while :; do sleep 0.01; done`,
		"the parent has ended": `(setsid sh -c 'echo $$ >$FILE; exec sleep 60' >/dev/null 2>&1 &); while :; do sleep 0.01; done`,
		"it ended by itself":   `(setsid sh -c 'echo $$ >$FILE; exec sleep 60' >/dev/null 2>&1 &); sleep 0.3`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
			defer cancel()
			dies(t, ctx, script)
		})
	}
}
