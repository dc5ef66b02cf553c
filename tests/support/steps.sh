# Shared by examples/run.sh and tests/run.sh: steps with progress, quiet unless something fails. To be sourced.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${SDFG_TEST_BUILD_DIR:-$root/build}
jobs=${SDFG_TEST_JOBS:-$(nproc)}

# step TITLE COMMAND...: runs the command with its output in a log; prints the end of the log if it fails.
step() {
  local title=$1 log began pid status
  shift
  log=$build/log/$(printf '%s' "$title" | tr -c 'A-Za-z0-9\n' '-').txt
  mkdir -p "$build/log"
  began=$SECONDS
  "$@" >"$log" 2>&1 &
  pid=$!
  local shown=-1 now
  while kill -0 "$pid" 2>/dev/null; do
    now=$(grep -oE '^\[[0-9]+/[0-9]+\]' "$log" 2>/dev/null | tail -n 1 || true)
    if [ -t 1 ]; then
      printf '\r  %s %s %ss\033[K' "$title" "$now" "$((SECONDS - began))"
      sleep 0.5
    else
      if [ $(((SECONDS - began) / 60)) -ne "$shown" ]; then
        shown=$(((SECONDS - began) / 60))
        [ "$shown" -gt 0 ] && printf '  %s %s %ss\n' "$title" "$now" "$((SECONDS - began))"
      fi
      sleep 0.2
    fi
  done
  status=0
  wait "$pid" || status=$?
  [ -t 1 ] && printf '\r\033[K'
  if [ "$status" -ne 0 ]; then
    printf '  %s FAILED after %ss; the end of %s:\n\n' "$title" "$((SECONDS - began))" "$log"
    grep -E '(error|FAILED|Error)' "$log" | head -n 20 || true
    tail -n 30 "$log"
    return "$status"
  fi
  printf '  %s: done in %ss\n' "$title" "$((SECONDS - began))"
}

# configure_and_build TARGET...: Release unless the folder was configured otherwise before.
configure_and_build() {
  local type=()
  [ -f "$build/CMakeCache.txt" ] || type=(-DCMAKE_BUILD_TYPE="${SDFG_TEST_BUILD_TYPE:-Release}")
  step "Configuring" cmake -S "$root" -B "$build" -G Ninja "${type[@]}" ${SDFG_TEST_CMAKE_ARGS:-}
  step "Building" ninja -C "$build" -j "$jobs" "$@"
}
