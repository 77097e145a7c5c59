#!/bin/sh
# What embedders accept, and what anybody could.
set -e
echo "== one draw: online embedders, and the proved optimum"
gapwise solve -a first-fit,best-fit,greedy,oktopus,adaba,bid-price,search tenants.json
echo "== more draws: acceptance beside the bound"
gapwise bench weeks.yaml -o weeks.jsonl 2>/dev/null
gapwise bench table weeks.jsonl --by load --columns 'accept rate,accept rate ±,gap mean %'
echo "== the least number of hosts"
gapwise solve --least-hosts machines.json
