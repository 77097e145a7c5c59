#!/usr/bin/env bash
# gophersat v1.4.0 (Go, pseudo-Boolean optimisation): an objective of negative costs is not minimised.
# Expected: OPB states a maximum as a minimum of negative costs, so a knapsack of profits 3, 2, 4, weights 2, 2, 3 and
#   capacity 4 has the optimum -5 (items 1 and 2), and Minimize returns it.
# Seen: Minimize returns 0 with the empty knapsack, though any item would be better: 0 is taken for the lowest cost
#   there is. The same knapsack in costs of its complements (what is left out is paid for) gives 4 = 9 - 5,
#   the right optimum.
# Matters: packing for profit through gophersat needs costs >= 0; negative ones are not refused.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
export GOFLAGS=-mod=mod CGO_ENABLED=0 GOWORK=off
go mod init try >/dev/null 2>&1
go get github.com/crillab/gophersat@v1.4.0 >/dev/null 2>&1
cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"

	"github.com/crillab/gophersat/solver"
)

func main() {
	for _, costs := range []string{"-3 x1 -2 x2 -4 x3", "+3 ~x1 +2 ~x2 +4 ~x3"} {
		problem, err := solver.ParseOPB(strings.NewReader("min: " + costs + " ;\n-2 x1 -2 x2 -3 x3 >= -4 ;\n"))
		if err != nil {
			fmt.Println(err)
			continue
		}
		s := solver.New(problem)
		cost := s.Minimize()
		fmt.Println(cost, s.Model())
	}
}
GO
go run . >out.txt
echo "negative costs: expected -5 [true true false], seen $(sed -n 1p out.txt)"
echo "costs of complements: expected 4 [true true false], seen $(sed -n 2p out.txt)"
if [ "$(cat out.txt)" != '0 [false false false]
4 [true true false]' ]; then
  echo 'changed'
  exit 1
fi
