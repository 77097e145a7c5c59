#!/bin/sh
# An exercise, its solution, and two answers.
set -e
echo "== HEFT, step by step"
gapwise solve -a heft --trace steps.txt exercise.json
cat steps.txt
echo "== the optimum"
gapwise solve exercise.json -o optimum.json
gapwise gantt exercise.json optimum.json
gapwise explain exercise.json optimum.json
echo "== Anna"
gapwise verify exercise.json anna.json
echo "== Ben"
gapwise verify exercise.json ben.json || echo "exit code $?"
echo "== more exercises"
gapwise bench exercises.yaml -o exercises.jsonl 2>/dev/null
gapwise bench table exercises.jsonl --columns 'runs,objective,optimal,gap max %'
