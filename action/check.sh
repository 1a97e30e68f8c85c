#!/usr/bin/env bash
# One step of a GitHub workflow: annotations on stdout, a summary for the step, SARIF where asked for.
# Reads the PLAN_* variables that action.yml sets; needs metrale-plan on the PATH.
set -uo pipefail

arguments=()
add_lines() { # add_lines FLAG TEXT: every line of the text, after the flag where there is one
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    line="${line%$'\r'}"
    [ -n "$line" ] && arguments+=(${1:+"$1"} "$line")
  done <<<"$2"
}

add_lines "" "${PLAN_PATHS:-.}"
add_lines --device "${PLAN_DEVICES:-}"
[ -n "${PLAN_CONFIG:-}" ] && arguments+=(--config "$PLAN_CONFIG")
[ "${PLAN_FAIL_ON_WARNING:-false}" = true ] && arguments+=(--fail-on-warning)
[ -n "${PLAN_SARIF:-}" ] && arguments+=(--output "sarif=$PLAN_SARIF")

summary=$(mktemp)
trap 'rm -f "$summary"' EXIT

metrale-plan check --format github --output "markdown=$summary" "${arguments[@]}"
code=$?

[ -n "${GITHUB_STEP_SUMMARY:-}" ] && cat "$summary" >>"$GITHUB_STEP_SUMMARY"
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "exit-code=$code" >>"$GITHUB_OUTPUT"
  [ -n "${PLAN_SARIF:-}" ] && [ -s "$PLAN_SARIF" ] && echo "sarif=$PLAN_SARIF" >>"$GITHUB_OUTPUT"
fi
exit "$code"
