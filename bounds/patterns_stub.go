package bounds
import ("context";"github.com/gapwise/gapwise/model")
func VCSchedPatterns(ctx context.Context, in *model.VCSched) (Bound, error) { return Bound{}, nil }
