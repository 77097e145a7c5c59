#!/bin/sh
# What the cluster did, what other policies would have done, and what nobody could have beaten.
set -e
gapwise convert --kind batch --tiers 1 day.swf -o day.json 2>/dev/null
echo "== six online policies on the whole day, with a bound"
gapwise bench policies.yaml -o policies.jsonl 2>/dev/null
gapwise bench table policies.jsonl --columns 'objective,bounded slowdown,wait p95,utilisation,gap mean %'
echo "== the schedule that the log itself tells of"
awk '!/^;/ { if (!n++) first = $2
  printf "%s{\"id\":\"%s\",\"segments\":[{\"start_s\":%d}]}", (n > 1 ? "," : "{\"runs\":["), $1, $2 + $3 - first }
  END { print "]}" }' day.swf >logged.json
gapwise verify day.json logged.json
echo "== what nobody could have beaten"
gapwise bound day.json
echo "== a busy piece: policies beside the proved optimum"
gapwise convert --kind batch --tiers 1 --skip 16 --first 20 day.swf -o busy.json 2>/dev/null
gapwise solve -a fcfs,easy,conservative,search busy.json
echo "== a quarter fewer processors, or another policy"
gapwise report --effort 20000 day.swf --what-if processors=0.75x --what-if policy=conservative -o what-if.html 2>/dev/null
