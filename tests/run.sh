#!/usr/bin/env bash
# Installs what is missing, builds everything, runs all tests. The last line says how many passed and failed.
# Arguments go to ctest, e.g. `tests/run.sh -R symbolic`. SDFG_TEST_SUITES="base ir" builds and runs only these.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support/steps.sh"

echo "sdfg: tests"
bash "$root/third_party/install-deps.sh"
if [ -n "${SDFG_TEST_SUITES:-}" ]; then
  read -ra suites <<<"$SDFG_TEST_SUITES"
  configure_and_build "${suites[@]/#/test_}"
  set -- -R "^($(IFS='|' && echo "${suites[*]}"))\$" "$@"
else
  configure_and_build all
fi

counts=$build/log/counts.txt
output=$build/log/ctest.txt
: >"$counts"
# ctest's own status is not asked: the counts below say more.
SDFG_TEST_COUNTS=$counts ctest --test-dir "$build" --output-on-failure -j "$jobs" "$@" 2>&1 | tee "$output" \
  | grep -vE '^ +Start |^Internal ctest|^Test project|^$' || true

# A Catch2 executable counts its test cases, anything else counts as one; a crash loses the count and is one failure.
awk -v counts="$counts" '
  BEGIN { while ((getline line < counts) > 0) { split(line, f, " "); sub(/^test_/, "", f[1]); good[f[1]] = f[2]; bad[f[1]] = f[3] } }
  /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    name = $4
    ok = /   Passed /
    if (/\*\*\*Skipped|\*\*\*Not Run/) { skipped++; next }
    if (name in good) { passed += good[name]; failed += bad[name]; if (!ok && bad[name] == 0) failed++ }
    else if (ok) passed++
    else failed++
  }
  END {
    if (skipped) printf "%d skipped\n", skipped
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0 || passed == 0
  }' "$output"
