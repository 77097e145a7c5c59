// SPDX-License-Identifier: MIT

package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/gapwise/gapwise/model"
)

// isAddress reports false: a page in a browser opens no sockets, and is spared the code for them.
func isAddress(string) bool { return false }

func dial(context.Context, string, time.Duration) (line, error) {
	return nil, fmt.Errorf("%w: a browser opens no sockets", model.ErrUnsupported)
}
