#!/usr/bin/env bash
# Loads, compiles and runs files of ours with DaCe itself, from PyPI in a virtual environment.
#   run.sh                 the six files of the test run
#   run.sh --all           all of own/
#   run.sh --regenerate GENERATOR
#                          writes own/ anew with the program interop_generate, then programs/ with DaCe, then compares
# Exit status 77 (skipped), with a notice, where Python or the package can't be had.
set -u
here=$(cd "$(dirname "$0")" && pwd)
environment=${SDFG_INTEROP_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/sdfg/interop-dace-1.0.2}

skip() {
  echo "NOTICE: the comparison with DaCe is skipped: $1"
  exit 77
}

command -v python3 > /dev/null || skip "there is no python3"
command -v cmake > /dev/null || skip "there is no cmake, which DaCe compiles with"
if ! "$environment/bin/python" -c 'import dace; assert dace.__version__ == "1.0.2"' 2> /dev/null; then
  mkdir -p "$(dirname "$environment")"
  python3 -m venv --clear "$environment" > /dev/null 2>&1 || skip "python3 can't make a virtual environment"
  # Newer releases of these three changed what DaCe 1.0.2 relies on.
  timeout 150 "$environment/bin/pip" install -q 'dace==1.0.2' 'numpy<2' 'networkx<3.3' 'sympy<1.14' > "$environment/pip.log" 2>&1 ||
    skip "the package dace 1.0.2 can't be installed (see $environment/pip.log)"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DACE_compiler_cpu_args="-O0 -std=c++14 -fPIC" DACE_cache=unique DACE_default_build_folder="$work/cache" OMP_NUM_THREADS=2

if [ "${1:-}" = --regenerate ]; then
  generator=${2:?"--regenerate needs the program interop_generate"}
  rm -rf "$here/own" "$here/programs"
  "$generator" "$here/own" || exit 1
  "$environment/bin/python" "$here/programs.py" || exit 1
fi
if [ $# -gt 0 ]; then
  "$environment/bin/python" "$here/compare.py" "$here"/own/*/
else
  "$environment/bin/python" "$here/compare.py" "$here"/own/{rows,search,sparse,views,leaving,rounds}
fi
