#!/bin/sh
# A heuristic in Python beside HEFT and the optimum, on graphs that the plan draws.
set -e
echo "== my heuristic on one graph of my own"
gapwise solve -a heft -a 'cmd:python3 mine.py {in} {out}' breakfast.json
echo "== the duel"
gapwise bench duel.yaml -o duel.jsonl 2>/dev/null
gapwise bench table duel.jsonl --columns 'runs,optimal,gap mean %,gap max %'
gapwise bench compare duel.jsonl --base heft --algorithms heft,mine,improve
