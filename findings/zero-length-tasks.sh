#!/usr/bin/env bash
# A task of length 0 beside one that runs from 0 to 10: each constraint has a rule of its own for it.
# MiniZinc 2.6.4 with Gecode 6.2.0 (Debian 12) and CP-SAT (npm or-tools-wasm 0.9.1).
# Expected: a milestone uses nothing for no time, so it may stand at 5 in every constraint, and one solver's
#   constraints agree with each other on a machine of capacity 1.
# Seen (start nearest to 5, or no plan at all):
#   Gecode: disjunctive allows 5; diffn does not (0); cumulative has no plan when the milestone asks for more than
#   the capacity, though it would run for no time.
#   CP-SAT: NoOverlap and NoOverlap2D forbid 5 (0); Cumulative of capacity 1 allows it, even at demand above capacity.
# Matters: milestones and dummy tasks of task graphs and RCPSP files move or make a model infeasible when
#   "one machine" is rewritten from disjunctive to cumulative, or goes to the other solver.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
mkdir -p "$T/debs/partial" "$T/root" "$T/solvers" "$T/npm"
apt-cache show minizinc >/dev/null 2>&1 || apt-get -qq update
apt-get -qq -y -d --reinstall --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$T/debs" \
  install minizinc=2.6.4+dfsg1-1 flatzinc=6.2.0-5 >/dev/null
for deb in "$T"/debs/*.deb; do dpkg -x "$deb" "$T/root"; done
export PATH="$T/root/usr/bin:$PATH" LD_LIBRARY_PATH="$T/root/usr/lib/x86_64-linux-gnu"
export MZN_STDLIB_DIR="$T/root/usr/share/minizinc" MZN_SOLVER_PATH="$T/solvers"
sed "s#/usr/#$T/root/usr/#g" "$MZN_STDLIB_DIR/solvers/gecode.msc" >"$T/solvers/gecode.msc"
cd "$T/npm"
npm install --silent --no-audit --no-fund --ignore-scripts or-tools-wasm@0.9.1 >/dev/null 2>&1

gecode() { # constraint's file, constraint
  printf 'include "%s.mzn"; var 0..10: s; constraint %s; solve minimize abs(s - 5); output ["\\(s)\\n"];' \
    "$1" "$2" >m.mzn
  minizinc --solver gecode m.mzn 2>/dev/null | sed -n 1p
}
{
  echo "Gecode disjunctive: $(gecode disjunctive 'disjunctive([0, s], [10, 0])')"
  echo "Gecode diffn: $(gecode diffn 'diffn([0, s], [0, 0], [10, 0], [1, 1])')"
  echo "Gecode cumulative, 5 of 2: $(gecode cumulative 'cumulative([0, s], [10, 0], [1, 5], 2)')"
} >out.txt
cat >m.mjs <<'JS'
import { CpModel, CpSolver } from 'or-tools-wasm/cp-sat';
const solve = async (name, add) => {
  const m = new CpModel(), s = m.newIntVar(0, 10, 's'), off = m.newIntVar(0, 10, 'off');
  m.addLinearConstraint(off.plus(s), 5, 100);
  m.addLinearConstraint(off.plus(s.times(-1)), -5, 100);
  add(m, [m.newFixedSizeIntervalVar(0, 10, 'task'), m.newFixedSizeIntervalVar(s, 0, 'milestone')]);
  m.minimize(off);
  const solver = new CpSolver(), status = await solver.solve(m, { numSearchWorkers: 1 });
  console.log(`CP-SAT ${name}: ${solver.statusName(status) === 'OPTIMAL' ? Math.abs(solver.value(s)) : 'no plan'}`);
};
await solve('NoOverlap', (m, x) => m.addNoOverlap(x));
await solve('NoOverlap2D', (m, x) => m.addNoOverlap2D(x, [0, 0].map(at => m.newFixedSizeIntervalVar(at, 1, 'y'))));
await solve('Cumulative, 1 of 1', (m, x) => m.addCumulative(x, [1, 1], 1));
await solve('Cumulative, 5 of 2', (m, x) => m.addCumulative(x, [1, 5], 2));
process.exit(0);
JS
node m.mjs >>out.txt
echo 'expected: 5 in every line; seen:'
cat out.txt
[ "$(sed 's/.*: //' out.txt | tr '\n' ' ')" = '5 0 =====UNSATISFIABLE===== 0 0 5 5 ' ] || { echo 'changed'; exit 1; }
