#!/usr/bin/env bash
# Check the memory reading on a machine with a GPU: scripts/check_device.sh [ORDINAL [RECORDING]]
# PYTHON names an interpreter with metrale-plan and one cupy package. Takes about a minute; exit 0 when all agrees.
# What is held is plain device memory, never more than is free. RECORDING is a new file for the raw readings.
set -euo pipefail
ordinal=${1:-0}
python=${PYTHON:-python3}
model=qwen3.8-27b
recording=${2:-}
mib=$((1 << 20))
failed=0
work=$(mktemp -d)
trap 'stop; rm -rf "$work"' EXIT

reading() { # KEY: one figure of our own reading, by another process than the one that holds
  { "$python" -m metrale_plan doctor --format json --gpu-ordinal "$ordinal" || true; } |
    "$python" -c 'import json, sys; print(json.load(sys.stdin)["doctor"]["gpus"][0]["memory"][sys.argv[1]])' "$1"
}

smi() { # what nvidia-smi calls free, in MiB, of the same card; empty where it does not tell
  nvidia-smi -i "$card" --query-gpu=memory.free --format=csv,noheader,nounits 2>/dev/null | grep -E '^[0-9]+$' || true
}

hold() { # BYTES: a process that holds them, and a context, until `stop`
  coproc HOLDER { exec "$python" -c '
import sys
from cupy_backends.cuda.api import runtime
runtime.setDevice(int(sys.argv[1]))
runtime.memGetInfo()
kept = runtime.malloc(int(sys.argv[2])) if int(sys.argv[2]) else 0
print("held", flush=True)
sys.stdin.read()' "$ordinal" "$1"; }
  local word=
  read -r -t 60 word <&"${HOLDER[0]}" || true
  if [ "$word" != held ]; then
    echo "$(($1 / mib)) MiB could not be held" >&2
    exit 1
  fi
}

stop() { # give it back, and wait until it is
  if [ -n "${HOLDER_PID:-}" ]; then
    local pid=$HOLDER_PID input=${HOLDER[1]}
    exec {input}>&-
    wait "$pid" || true
  fi
}

check() { # WORDS EXPECTED GOT TOLERANCE, in MiB
  local off=$(($3 > $2 ? $3 - $2 : $2 - $3)) verdict=ok
  if [ "$off" -gt "$4" ]; then verdict=WRONG failed=1; fi
  printf '%-5s %s: expected %d MiB, got %d MiB\n' "$verdict" "$1" "$2" "$3"
}

preflight() { # EXPECTED_EXIT WORDS
  local code=0 verdict=ok
  "$python" -m metrale_plan preflight "$model" --stage reserve --ssm-decode-ring-slots 0 --gpu-ordinal "$ordinal" \
    >"$work/out" 2>"$work/err" || code=$?
  if [ "$code" -ne "$1" ]; then verdict=WRONG failed=1; fi
  printf '%-5s preflight %s: exit %d\n      %s\n' "$verdict" "$2" "$code" "$(head -1 "$work/out")"
}

if ! "$python" -m metrale_plan doctor --gpu-ordinal "$ordinal" ${recording:+--record "$recording"}; then
  echo "there is no reading to check" >&2
  exit 1
fi
card=$(reading pci_bus_id)
total=$(reading total)

# A holder of nothing has a context too, so that what follows differs by what is held alone.
hold 0
before=$(reading free)
smi_before=$(smi)
stop
printf '\nbeside one holder that holds nothing: ours %d MiB free, nvidia-smi %s MiB\n' $((before / mib)) "${smi_before:-?}"
for percent in 1 10 50; do
  size=$((total * percent / 100))
  if [ "$size" -gt "$before" ]; then
    echo "left out: $percent % of memory is not free"
    continue
  fi
  hold "$size"
  ours=$(reading free)
  theirs=$(smi)
  stop
  tolerance=$((total / 100 / mib > 256 ? total / 100 / mib : 256))
  check "$percent % held, our free fell by" $((size / mib)) $(((before - ours) / mib)) "$tolerance"
  if [ -n "$smi_before" ] && [ -n "$theirs" ]; then
    check "$percent % held, ours moved like nvidia-smi's" $((smi_before - theirs)) $(((before - ours) / mib)) "$tolerance"
  else
    echo "left out: nvidia-smi tells no memory here"
  fi
done

need=$({ "$python" -m metrale_plan preflight "$model" --stage reserve --ssm-decode-ring-slots 0 --format json \
  --gpu-ordinal "$ordinal" || true; } |
  "$python" -c 'import json, sys; print(json.load(sys.stdin)["verdict"]["need"])')
margin=$((512 * mib))
if [ $((before - need)) -gt $((2 * margin)) ]; then
  hold $((before - need - margin))
  preflight 0 "with need just below free"
  stop
  hold $((before - need + margin))
  preflight 1 "with need just above free"
  stop
else
  echo "left out: $((need / mib)) MiB for $model are not free here"
fi
exit "$failed"
