#!/bin/sh
# Judges two placements, and says how far the right one is from the best.
set -e
echo "== the gate"
gapwise verify shop.json mine.json
gapwise verify shop.json careless.json || echo "exit code $?"
echo "== how far it is from the best, and what holds it up"
gapwise solve -a 'cmd:cp mine.json {out}' shop.json -o mine.result.json
gapwise explain shop.json mine.result.json
echo "== the best, from ours"
gapwise solve --start mine.result.json shop.json -o best.json
gapwise gantt shop.json best.json
echo "== nightly"
gapwise bench nightly.yaml -o nightly.jsonl 2>/dev/null
gapwise bench table nightly.jsonl --columns 'verified,objective,gap mean %'
