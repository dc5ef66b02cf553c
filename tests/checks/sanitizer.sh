#!/usr/bin/env bash
# sanitizer.sh asan|tsan [ctest arguments]: builds with the preset and runs the tests under it.
set -euo pipefail
preset=${1:?usage: sanitizer.sh asan|tsan}
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case "$preset" in
  asan) sanitize=address,undefined ;;
  tsan) sanitize=thread ;;
  *) echo "sanitizer: '$preset' is neither asan nor tsan" >&2; exit 2 ;;
esac
export SDFG_TEST_BUILD_DIR=$root/build-$preset SDFG_TEST_BUILD_TYPE=RelWithDebInfo
export SDFG_TEST_CMAKE_ARGS="-DSDFG_SANITIZE=$sanitize -DSDFG_BUILD_BENCH=OFF"
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:abort_on_error=0:detect_odr_violation=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=suppressions=$root/tests/support/lsan.supp:print_suppressions=0
export TSAN_OPTIONS=suppressions=$root/tests/support/tsan.supp:halt_on_error=0:second_deadlock_stack=1
exec bash "$root/tests/run.sh" "$@"
