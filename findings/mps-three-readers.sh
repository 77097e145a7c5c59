#!/usr/bin/env bash
# One MPS file, three optima: glpsol 5.0, CBC 2.10.8 and lp_solve 5.5.2.5 read the same four files.
# Expected: all read one model, for MPS is the format that solvers exchange models in.
#   An integer column without an upper bound is unbounded, with or without a lower bound of its own: -7 and -7.
#   (Or it is binary as in the oldest MPS, which lp_solve has an option for; but then in both files or neither.)
#   An entry of RHS on the objective row is the negative of the constant: 3 - (-10) = 13.
#   A section OBJSENSE with MAX maximises, or the file is refused: 3.
# Seen: an integer column without bounds is binary to glpsol and CBC, general to lp_solve.
#   Beside a lower bound of 1 it is fixed at 1 by glpsol alone.
#   The constant has the other sign in glpsol and lp_solve.
#   CBC minimises under OBJSENSE MAX: its log has one line that it ignores MAX, then 0 errors; the solution's file
#   says "Optimal". glpsol refuses the file.
# Matters: who compares solvers by one file compares models; bounds and the sense belong into every file.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
mkdir -p "$T/debs/partial" "$T/root"
apt-cache show lp-solve >/dev/null 2>&1 || apt-get -qq update
apt-get -qq -y -d --reinstall --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$T/debs" \
  install glpk-utils=5.0-1 coinor-cbc=2.10.8+ds1-1 lp-solve=5.5.2.5-2 >/dev/null
for deb in "$T"/debs/*.deb; do dpkg -x "$deb" "$T/root"; done
L=$T/root/usr/lib/x86_64-linux-gnu
export PATH="$T/root/usr/bin:$PATH" LD_LIBRARY_PATH="$L:$L/lapack:$L/blas:$T/root/usr/lib/lp_solve"
cd "$T"

# Write one line of fixed MPS: field 1, then names and numbers at their columns.
line() { local f1=$1 set=$2; shift 2; printf ' %-2s %-8s' "$f1" "$set"; printf '  %-8s  %12s' "$@"; printf '\n'; }
# Write a model of one column X and one row LIM: name, MAX?, type of the row, cost, right-hand side, RHS of the cost,
# integer?, lower bound.
model() {
  echo "NAME          $1"
  [ "$2" = MAX ] && printf 'OBJSENSE\n    MAX\n'
  printf 'ROWS\n N  COST\n %s  LIM\nCOLUMNS\n' "$3"
  [ "$7" = int ] && echo "    MARKER    'MARKER'                 'INTORG'"
  line '' X COST "$4"; line '' X LIM 1
  [ "$7" = int ] && echo "    MARKER    'MARKER'                 'INTEND'"
  echo RHS; line '' RHS LIM "$5"; line '' RHS COST "$6"
  [ "$8" = - ] || { echo BOUNDS; line LO BND X "$8"; }
  echo ENDATA
}
model integer - L -1 7.5 0 int - >integer.mps
model lower - L -1 7.5 0 int 1 >lower.mps
model constant - G 1 3 -10 real - >constant.mps
model sense MAX L 1 3 0 real - >sense.mps

by_glpsol() { glpsol --mps "$1.mps" -o g.txt >g.log && awk '/^Objective:/ { print $4 }' g.txt || echo refused; }
by_cbc() {
  rm -f c.txt
  cbc "$1.mps" solve solution c.txt >c.log
  awk 'NR == 1 && $1 == "Optimal" { print $NF + 0 }' c.txt
}
by_lp_solve() { lp_solve -fmps "$1.mps" -S3 | awk '/^Value of objective/ { print $NF + 0 }'; }

# Compare one file's three values with the recorded ones.
changed=0
check() {
  local seen
  seen="$(by_glpsol "$1") $(by_cbc "$1") $(by_lp_solve "$1")"
  echo "$1.mps: expected $2 of all; glpsol 5.0, CBC 2.10.8, lp_solve 5.5.2.5 say: $seen"
  [ "$seen" = "$3" ] || { echo "changed: recorded was $3"; changed=1; }
}
check integer -7 '-1 -1 -7'
check lower -7 '-1 -7 -7'
check constant 13 '-7 13 -7'
check sense '3 (or refused)' 'refused 0 3'
exit $changed
