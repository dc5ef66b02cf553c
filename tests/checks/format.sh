#!/usr/bin/env bash
# Every source file is laid out as clang-format does it. `--fix` lays them out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

formatter=clang-format-22
if ! command -v "$formatter" >/dev/null; then
  echo "format: $formatter is not installed; third_party/install-deps.sh installs it" >&2
  exit 1
fi
mapfile -t files < <(git ls-files 'include/*.hpp' 'src/*.hpp' 'src/*.cpp' 'tests/*.hpp' 'tests/*.cpp' 'examples/*.cpp' 'bench/*.cpp' 'bench/*.hpp' ':!tests/golden/*')
if [ "${1:-}" = "--fix" ]; then
  printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" "$formatter" -i
  exit 0
fi
wrong=$(printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" "$formatter" --dry-run 2>&1 \
  | grep 'clang-format-violations' | cut -d: -f1 | sort | uniq -c || true)
if [ -n "$wrong" ]; then
  echo "$wrong"
  echo "format: the files above are not laid out by $formatter; tests/checks/format.sh --fix does it"
  exit 1
fi
echo "format: ok (${#files[@]} files)"
