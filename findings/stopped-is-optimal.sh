#!/usr/bin/env bash
# PuLP 2.6.0 over CBC 2.10.8 and glpsol 5.0 (Debian 12): LpStatus "Optimal" is said of solutions that nobody proved.
# Expected: a search that ends at its node limit, or that glpsol itself reports as INTEGER NON-OPTIMAL, has another
#   status than "Optimal"; where PuLP keeps a second word (sol_status: 1 is proved, 2 is feasible), it is 2 for both.
# Seen: one maximum has three "Optimal" values. CBC's two stopped searches have sol_status 2 at least.
#   For glpsol's INTEGER NON-OPTIMAL (a gap of 50 %) the status is "Optimal" and sol_status is 1: nothing tells.
# Matters: tables of "solved to optimality" by PuLP's status count every run that found something.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
mkdir -p "$T/debs/partial" "$T/root"
apt-cache show python3-pulp >/dev/null 2>&1 || apt-get -qq update
apt-get -qq -y -d --reinstall --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$T/debs" \
  install glpk-utils=5.0-1 coinor-cbc=2.10.8+ds1-1 python3-pulp=2.6.0+dfsg-1 >/dev/null
for deb in "$T"/debs/*.deb; do dpkg -x "$deb" "$T/root"; done
L=$T/root/usr/lib/x86_64-linux-gnu
export PATH="$T/root/usr/bin:$PATH" LD_LIBRARY_PATH="$L:$L/lapack:$L/blas"
export PYTHONPATH="$T/root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1
cd "$T"
cat >m.py <<'PY'
import random
import pulp

# Fill five bins with items of 60: weights and profits from a fixed seed.
random.seed(3)
weights = [random.randint(100, 1000) for _ in range(60)]
profits = [w + random.randint(-30, 30) for w in weights]
p = pulp.LpProblem("bins", pulp.LpMaximize)
x = [[pulp.LpVariable("x%d_%d" % (i, j), cat="Binary") for j in range(5)] for i in range(60)]
p += pulp.lpSum(profits[i] * x[i][j] for i in range(60) for j in range(5))
for row in x:
    p += pulp.lpSum(row) <= 1
for j in range(5):
    p += pulp.lpSum(weights[i] * x[i][j] for i in range(60)) <= sum(weights) // 11

def run(name, solver):
    p.solve(solver)
    print(name, pulp.LpStatus[p.status], p.sol_status, round(pulp.value(p.objective)))

cbc = lambda *options: pulp.COIN_CMD(path="cbc", msg=0, options=list(options))
run("cbc, 1 node:", cbc("maxNodes 1", "presolve off", "cuts off"))
run("cbc, 200 nodes:", cbc("maxNodes 200"))
run("glpsol, gap 50 %:", pulp.GLPK_CMD(msg=0, options=["--mipgap", "0.5"]))
p.writeLP("bins.lp")
PY
PATH="$T/root/usr/bin:/usr/bin:$PATH" python3 m.py >out.txt
glpsol --lp bins.lp --mipgap 0.5 -o g.txt >g.log
sed -n 's/^Status: */glpsol itself: /p' g.txt >>out.txt
echo 'expected: not "Optimal", or sol_status 2 at least (status, sol_status, value); seen:'
cat out.txt
[ "$(cat out.txt)" = 'cbc, 1 node: Optimal 2 16810
cbc, 200 nodes: Optimal 2 16735
glpsol, gap 50 %: Optimal 1 16214
glpsol itself: INTEGER NON-OPTIMAL' ] || { echo 'changed'; exit 1; }
