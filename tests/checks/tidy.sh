#!/usr/bin/env bash
# tidy.sh [file... | --since REVISION]: clang-tidy on these sources; by default on those that differ from the last commit.
# Needs a compilation database of single files, which it makes in build-tidy/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tidy=clang-tidy-22
if ! command -v "$tidy" >/dev/null; then
  echo "tidy: $tidy is not installed; third_party/install-deps.sh installs it" >&2
  exit 1
fi
if [ "${1:-}" = --since ]; then
  mapfile -t files < <(git diff --name-only --diff-filter=d "${2:?usage: tidy.sh --since REVISION}" -- 'src/*.cpp' 'bench/*.cpp' 'examples/*.cpp')
elif [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git diff --name-only --diff-filter=d HEAD -- 'src/*.cpp' 'bench/*.cpp' 'examples/*.cpp')
fi
if [ ${#files[@]} -eq 0 ]; then
  echo "tidy: nothing to check"
  exit 0
fi
cmake -S . -B build-tidy -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSDFG_UNITY=OFF -DCMAKE_C_COMPILER=clang-22 \
  -DCMAKE_CXX_COMPILER=clang++-22 >/dev/null
if ! printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p build-tidy --quiet 2>/dev/null; then
  echo "tidy: clang-tidy complains"
  exit 1
fi
echo "tidy: ok (${#files[@]} files)"
