#!/usr/bin/env bash
# Installs with apt what the build needs and is missing. Says nothing and changes nothing when all is there.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git
  llvm-22-dev libclang-22-dev libclang-common-22-dev libclang-rt-22-dev clang-22 clang-format-22 clang-tidy-22
  libspdlog-dev libfmt-dev catch2 libbenchmark-dev libisl-dev libgmp-dev nlohmann-json3-dev
  libzstd-dev zlib1g-dev libopenblas-dev
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps: these packages are missing, and installing them needs root: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quiet() {
  if ! "$@" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    return 1
  fi
}

export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
echo "Installing ${#missing[@]} packages: ${missing[*]}"
if ! quiet "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${wait_for_lock[@]}" -qq update; then
  echo "install-deps: 'apt-get update' failed; trying with the package lists at hand" >&2
fi

unknown=()
for package in "${missing[@]}"; do
  apt-cache show "$package" >/dev/null 2>&1 || unknown+=("$package")
done
if [ ${#unknown[@]} -ne 0 ]; then
  echo "install-deps: apt knows no package ${unknown[*]}." >&2
  case "${unknown[*]}" in
    *22*) echo "install-deps: LLVM 22 comes from LLVM's own apt repository for your release; add it and run this again." >&2 ;;
  esac
  exit 1
fi

if ! quiet "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${wait_for_lock[@]}" -qq -y --no-install-recommends \
    install "${missing[@]}"; then
  echo "install-deps: installing ${missing[*]} failed; the last lines of apt are above" >&2
  exit 1
fi
