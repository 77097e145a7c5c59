#!/usr/bin/env bash
# clingo 5.4.1 (Debian 12): integers wrap at 32 bits without a word, in facts and in sums.
# Expected: a number above 2^31 - 1 (milliseconds of 25 days, bytes of 2 GiB) is read as written or refused with a
#   message, and so is a sum that passes it; a task that runs from 2000000000 for 300000000 misses a deadline of
#   2100000000.
# Seen: the literal 3000000000 becomes -1294967296, and 2000000000 + 300000000 becomes -1994967296, without error or
#   warning. The late task meets its deadline: the plan is SATISFIABLE. (Some sums while solving do raise an error.)
# Matters: schedules in milliseconds and placements by bytes must be scaled before clingo sees them.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
mkdir -p "$T/debs/partial" "$T/root"
apt-cache show gringo >/dev/null 2>&1 || apt-get -qq update
apt-get -qq -y -d --reinstall --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$T/debs" \
  install gringo=5.4.1-3.1+b1 >/dev/null
for deb in "$T"/debs/*.deb; do dpkg -x "$deb" "$T/root"; done
export PATH="$T/root/usr/bin:$PATH" LD_LIBRARY_PATH="$T/root/usr/lib:$T/root/usr/lib/x86_64-linux-gnu"
cd "$T"
clingo --version | sed -n 1p

echo 'memory(3000000000).' >fact.lp
gringo --text fact.lp >fact.txt 2>fact.err
cat >late.lp <<'LP'
start(a,2000000000). length(a,300000000). deadline(a,2100000000).
end(T,S+L) :- start(T,S), length(T,L).
:- end(T,E), deadline(T,D), E > D.
#show end/2.
LP
clingo late.lp >late.txt 2>late.err || true # 10 is its code for a model

fact=$(cat fact.txt) end=$(grep '^end' late.txt || true)
met=$(grep -c '^SATISFIABLE' late.txt || true) said=$(cat fact.err late.err | wc -l)
echo "literal: expected memory(3000000000), seen $fact"
echo "late task: expected no plan, seen $end (satisfiable: $met, lines of warning: $said)"
[ "$fact $end $met $said" = 'memory(-1294967296). end(a,-1994967296) 1 0' ] || { echo 'changed'; exit 1; }
