#!/usr/bin/env bash
# symbols.sh BUILD: the libraries export nothing but sdfg's own names and need nothing but the C and C++ runtimes.
set -euo pipefail
build=${1:?usage: symbols.sh BUILD}
failed=0

for library in "$build/lib/libsdfg.so" "$build/lib/libsdfg-compiler.so"; do
  name=${library##*/}
  if [ ! -e "$library" ]; then
    echo "symbols: $library does not exist"
    exit 1
  fi
  foreign=$(nm -DC --defined-only "$library" \
    | grep -vE '^[0-9a-f]+ [A-Za-z] ((typeinfo|typeinfo name|vtable|guard variable|non-virtual thunk|VTT) (for|to) )?(sdfg::|sdfg_)' || true)
  if [ -n "$foreign" ]; then
    echo "symbols: $name exports foreign names:"
    head -n 20 <<<"$foreign"
    failed=1
  fi
  inner=$(nm -DC --defined-only "$library" | grep -E ' sdfg::(ir|tasklet|symbolic|analysis|transform|lower|codegen|compile|runtime|device|io|interpret|library)::' || true)
  if [ -n "$inner" ]; then
    echo "symbols: $name exports names of inner rooms:"
    head -n 20 <<<"$inner"
    failed=1
  fi
  needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' \
    | grep -vE '^(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-x86-64)\.so' || true)
  for extra in $needed; do
    case "$extra" in
      libgmp.so*) ;;  # of isl; LGPL, so linked dynamically
      *) echo "symbols: $name needs $extra"; failed=1 ;;
    esac
  done
done
[ "$failed" -eq 0 ] && echo "symbols: ok"
exit "$failed"
