// SPDX-License-Identifier: MIT

//go:build js

package instances

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// The page opens no files of platforms, and its size counts: these stand for what the command has.

func platformOfFile(spec string) (Platform, error) {
	return Platform{}, badPlatform(spec, "there is no such preset")
}

func asNetwork(model.Instance, string, string) error {
	return fmt.Errorf("%w option: --network is for the command", model.ErrInvalid)
}
