package exact

import (
	"context"
	"errors"
)

// stopReason tells why a search was stopped, or nothing if it wasn't.
func stopReason(ctx context.Context) string {
	switch err := ctx.Err(); {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return "stopped by the time limit"
}
