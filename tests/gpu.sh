#!/usr/bin/env bash
# gpu.sh [BUILD]: everything that needs an NVIDIA GPU, on the binaries of a finished build (default: build): the tests of
# the CUDA back end and the device programs, both again under compute-sanitizer, the benchmarks, and what CuPy and JAX
# reach. Ends with a short table. SDFG_GPU_SKIP leaves out steps: a list of memcheck, racecheck, corpus, bench, peers, fault.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build}
export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export SDFG_CACHE=memory
log=${SDFG_GPU_LOG:-$(mktemp -d)}
mkdir -p "$log"
table=()

skipped() { case ",${SDFG_GPU_SKIP:-}," in *",$1,"*) return 0 ;; esac; return 1; }

# step NAME command...: runs it, keeps its output, adds a line to the table.
step() {
  local name=$1 start=$SECONDS status=0
  shift
  if skipped "${name%% *}"; then
    table+=("skipped  $name")
    return
  fi
  echo "== $name"
  "$@" >"$log/${name// /_}.txt" 2>&1 || status=$?
  tail -n "${lines:-6}" "$log/${name// /_}.txt"
  if [ "$status" -eq 0 ]; then
    table+=("ok       $name ($((SECONDS - start)) s)")
  else
    table+=("FAILED   $name (status $status, $((SECONDS - start)) s)")
  fi
}

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
checked() {
  local tool=$1
  shift
  if [ -z "$sanitizer" ]; then
    echo "NOTICE: no compute-sanitizer"
    return 1
  fi
  "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 --report-api-errors no "$@"
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "NOTICE: no nvidia-smi"
step "device tests" "$build/tests/device/test_device" "[gpu]"
step "device programs" "$build/tests/gpu/test_gpu" "device programs on a GPU"
if [ -x "$build/tests/corpus/test_corpus" ]; then
  step "corpus" "$build/tests/corpus/test_corpus" "*on a GPU"
fi
step "memcheck device" checked memcheck "$build/tests/device/test_device" "[gpu]"
step "memcheck programs" checked memcheck "$build/tests/gpu/test_gpu" "device programs on a GPU"
# Kernels of cuSPARSE (csrmv) have hazards of their own among threads that write the same value.
step "racecheck programs" checked racecheck --kernel-name-exclude kernel_substring=cusparse "$build/tests/gpu/test_gpu" "device programs on a GPU"
step "fault of a kernel" "$build/tests/device/test_device" "[.lost]"
lines=40 step "bench" "$build/bench/bench_gpu"
lines=40 step "peers" python3 bench/gpu_peers.py

echo
echo "full output: $log"
printf '%s\n' "${table[@]}"
case "${table[*]}" in *FAILED*) exit 1 ;; esac
