#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check.sh [PART...]: what developers run beside tests/run.sh; without arguments all of it, which takes hours.
#
#   gcc       GCC, every warning an error: the whole build, unit tests
#   clang     Clang, every warning an error: the whole build, unit, command line and conformance tests
#   sanitize  AddressSanitizer and UndefinedBehaviorSanitizer: unit, command line and conformance tests, damaged files
#   threads   ThreadSanitizer: unit tests, whole networks
#   analyze   GCC's -fanalyzer over the core and the command line, every warning an error
#   levels    unit and command line tests with the loops of each instruction set and OpenBLAS' kernels for other processors, and
#             whether files are the same: tests/levels.sh
#   long      all networks, settings and recipes, of which tests/run.sh takes a part; with onnxruntime, if tests/run.sh has made
#             its environment
#
# Builds are kept in build-check/PART. $CC and $CLANG name other compilers than “gcc” and “clang”.
set -euo pipefail
cd "$(dirname "$0")/.."
. ./tests/lib/setup.sh

PARTS=(gcc clang sanitize threads analyze levels long)
build=build-check
failed=()

# test_part PART SUITE...: builds and runs the suites
test_part () {
  local part=$1 suites=()
  shift
  for name in "$@"; do suites+=(--suite "$name"); done
  "$NINJA" -k 0 -C "$build/$part" &&      # all that is wrong is told
    "$MESON" test -C "$build/$part" --no-rebuild --print-errorlogs --timeout-multiplier 8 "${suites[@]}"
}

check_gcc () {
  CC=${CC:-gcc} configure_build "$build/gcc" -Dwerror=true "-Dshared_data=$shared" && test_part gcc unit headers
}

check_clang () {
  CC=${CLANG:-clang} configure_build "$build/clang" -Dwerror=true "-Dshared_data=$shared" &&
    test_part clang unit cli onnx-node
}

# MPI and its helpers leak, and are not what is looked at.
check_sanitize () {
  CC=${CC:-gcc} configure_build "$build/sanitize" -Db_sanitize=address,undefined -Db_lundef=false -Dmpi=disabled \
    "-Dshared_data=$shared" &&
    UBSAN_OPTIONS=halt_on_error=1 ASAN_OPTIONS=allocator_may_return_null=1 test_part sanitize unit cli onnx-node fuzz-replay
}

check_threads () {
  CC=${CC:-gcc} configure_build "$build/threads" -Db_sanitize=thread -Db_lundef=false -Dmpi=disabled -Dapp=disabled \
    "-Dshared_data=$shared" && G_SLICE=always-malloc test_part threads unit networks
}

# Two of its checks are off: calls by pointers count as writing nothing, and searches in tables as finding nothing.
check_analyze () {
  CC=${CC:-gcc} configure_build "$build/analyze" -Dwerror=true -Dmpi=disabled -Dapp=disabled -Dtests=false \
    "-Dc_args=-fanalyzer -Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-null-dereference" && "$NINJA" -C "$build/analyze"
}

check_levels () {
  CC=${CC:-gcc} configure_build "$build/levels" -Dwerror=false "-Dshared_data=$shared" && "$NINJA" -C "$build/levels" &&
    VN_SHARED=$shared tests/levels.sh "$build/levels"
}

check_long () {
  local oracle=$PWD/build-tests/oracle/bin/python
  [ -x "$oracle" ] || oracle=
  CC=${CC:-gcc} configure_build "$build/long" -Dwerror=false "-Doracle_python=$oracle" "-Dshared_data=$shared" &&
    test_part long long
}

shared=${VN_SHARED:-}
[ -z "$shared" ] && [ -d ../shared/models ] && shared=$(cd ../shared && pwd)
[ "$#" -gt 0 ] || set -- "${PARTS[@]}"
for part in "$@"; do
  case " ${PARTS[*]} " in *" $part "*) ;; *) echo "parts: ${PARTS[*]}" >&2; exit 2 ;; esac
done

install_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
mkdir -p "$build"
export LC_ALL=C.UTF-8
unset WAYLAND_DISPLAY DISPLAY
for part in "$@"; do
  echo "== $part"
  "check_$part" || failed+=("$part")
done
[ "${#failed[@]}" = 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
