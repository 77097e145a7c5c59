#!/bin/sh
# Three online policies in Python beside gapwise's own, and the judge's word on one of them.
set -e
gapwise policy init --language python -o fcfs.py >/dev/null
gapwise generate --kind batch --tiers 1 --jobs 400 --processors 64 --load 0.9 --seed 7 -o jobs.json
echo "== FCFS, EASY and one of our own, in Python, beside FCFS, EASY and the best of the others in gapwise"
gapwise solve -a 'online:python3 fcfs.py' -a 'online:python3 easy.py' -a 'online:python3 area.py' \
  -a fcfs,easy,easy-saf jobs.json
echo "== judged"
gapwise solve -a 'online:python3 area.py' -o area.json jobs.json >/dev/null
gapwise verify jobs.json area.json
echo "== one that looks for the runtimes finds none"
gapwise solve -a 'online:python3 cheat.py' jobs.json || echo "exit code $?"
