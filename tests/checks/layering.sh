#!/usr/bin/env bash
# A room may include only itself and rooms above it; public headers only public and standard ones; LLVM and Clang few files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rooms=(base symbolic tasklet ir builder io interpret analysis library transform lower codegen compile device runtime jit tools)
failed=0
complain() {
  echo "layering: $1"
  failed=1
}

declare -A position
for i in "${!rooms[@]}"; do position[${rooms[$i]}]=$i; done

while IFS=: read -r file line text; do
  room=${file#src/}
  room=${room%%/*}
  included=$(sed -E 's/.*#include "([a-z_]+)\/.*/\1/' <<<"$text")
  case "$included" in llvm | clang) continue ;; esac
  if [ -z "${position[$room]:-}" ]; then
    complain "$file:$line: '$room' is no room; see the table of rooms"
  elif [ -z "${position[$included]:-}" ]; then
    complain "$file:$line: \"$included/\" is no room"
  elif [ "${position[$included]}" -gt "${position[$room]}" ]; then
    complain "$file:$line: $room may not include $included, which is below it"
  fi
done < <(grep -rnE '^ *#include "[a-z_]+/' src --include=*.hpp --include=*.cpp --include=*.inc)

while IFS= read -r match; do
  complain "$match: a public header includes something that is neither standard nor public"
done < <(grep -rnE '^ *#include' include | grep -vE '#include <(sdfg/[a-z_]+\.hpp|[a-z_0-9]+)>' || true)

while IFS= read -r match; do
  complain "$match: Clang belongs to src/compile/clang/ only"
done < <(grep -rnE '^ *#include [<"]clang/' src | grep -v '^src/compile/clang/' || true)

while IFS= read -r match; do
  complain "$match: LLVM belongs to src/compile/, src/runtime/ and src/base/digest.cpp only"
done < <(grep -rnE '^ *#include [<"]llvm(-c)?/' src | grep -vE '^src/(compile/|runtime/|base/digest\.cpp)' || true)

[ "$failed" -eq 0 ] && echo "layering: ok"
exit "$failed"
