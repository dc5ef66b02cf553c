#!/usr/bin/env bash
# sanitizer.sh asan|tsan [ctest arguments]: builds as the preset does, with Clang, and runs the tests under it.
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
# Clang takes half the time of GCC 12 for instrumented code, and its warnings see the code too.
export SDFG_TEST_CMAKE_ARGS="-DSDFG_SANITIZE=$sanitize -DSDFG_BUILD_BENCH=OFF -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22"
# LLVM's allocators, inline in our files, would poison memory that LLVM's own code, not instrumented, does not unpoison.
export ASAN_OPTIONS=allow_user_poisoning=0:detect_leaks=1:strict_string_checks=1:abort_on_error=0:detect_odr_violation=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=suppressions=$root/tests/support/lsan.supp:print_suppressions=0
export TSAN_OPTIONS=suppressions=$root/tests/support/tsan.supp:halt_on_error=0:second_deadlock_stack=1
# The sanitizer's dlopen does not look where the calling program's own run path says.
export LD_LIBRARY_PATH=$SDFG_TEST_BUILD_DIR/lib
exec bash "$root/tests/run.sh" "$@"
