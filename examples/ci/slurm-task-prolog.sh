#!/usr/bin/env bash
# TaskProlog of slurm.conf, or the first line of a batch script: plans the serve that a job names in SERVE_RECIPE
# against the GPU that the task got, and stops the task when the engine would refuse it.
#
# Never as Prolog: that one runs before the job's own environment exists, and its failure drains the node.
#
# PLAN_ARGUMENTS adds arguments, such as `--device h100-sxm` where the node's GPUs cannot be read from the task.

[ -n "${SERVE_RECIPE:-}" ] || exit 0 # not a serve

said=$(metrale-plan preflight --recipe "$SERVE_RECIPE" ${PLAN_ARGUMENTS:-} 2>&1)
code=$?

# Slurm shows a task what its prolog prints after the word `print`.
while IFS= read -r line; do echo "print metrale-plan: $line"; done <<<"$said"

case $code in
  1 | 2) exit "$code" ;; # the engine would refuse it, or cannot read it
  *) exit 0 ;;           # it fits, or nothing can be told here: the serve's own preflight will
esac
