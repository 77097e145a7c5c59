package tvc

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// Formulations are the names that Build knows, the default first.
var Formulations = []string{"counts"}

// Build builds a formulation of an instance in loss mode by its name, "" for the
// default.
func Build(in *model.TVC, name string) (*milp.Formulation[*model.Embeddings], error) {
	switch {
	case name != "" && name != Formulations[0]:
		return nil, fmt.Errorf("formulation %q is unknown, give one of %v", name, Formulations)
	case in.Queue:
		return nil, fmt.Errorf("formulation counts: %w: it is for loss mode", model.ErrUnsupported)
	}
	return nil, fmt.Errorf("formulation counts: %w: not built yet", model.ErrUnsupported)
}
