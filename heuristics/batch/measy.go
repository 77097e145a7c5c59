// SPDX-License-Identifier: MIT

package batch

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// MEASY is KEASY with migrations instead of kills (Liu et al., section 2.3.2): a job in the background that goes to the
// foreground on other processors keeps all its work. There it does none in the first model.Batch.MigrationS seconds,
// but holds its processors.
func MEASY(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onTwoTiers(ctx, in, set, twoTierPolicy{rule: migrated})
}
