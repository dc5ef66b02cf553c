#!/usr/bin/env bash
# Installs what is missing, builds the library and the examples, and runs the main one. Arguments go to it, e.g. `--source`.
# `examples/run.sh --all` runs every example.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../tests/support/steps.sh"

echo "sdfg: examples"
bash "$root/third_party/install-deps.sh"
configure_and_build examples
echo
if [ "${1:-}" = "--all" ]; then
  shift
  for program in "$build"/examples/example_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    echo "== ${program##*/example_}"
    "$program" "$@"
    echo
  done
else
  exec "$build/examples/example_jacobi_2d" "$@"
fi
