#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and runs every test. Arguments go to "meson test": tests/run.sh --suite unit
# --quick in front of them: what one runs while working, in three minutes: the suites unit, golden, headers and docs.
#
# ../shared (or $VN_SHARED): real networks and photographs; tests that need them skip without.
# A Python environment with onnx and onnxruntime is made in build-tests/oracle; tests that compare with them skip if
# that is not possible. TESTS_ORACLE=0 does not try.
set -euo pipefail
cd "$(dirname "$0")/.."
. ./tests/lib/setup.sh

if [ "${1:-}" = --quick ]; then
  shift
  set -- --suite unit --suite golden --suite headers --suite docs "$@"
fi
install_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"

build=build-tests
mkdir -p "$build"
oracle=""
if [ "${TESTS_ORACLE:-1}" != 0 ]; then
  python=$build/oracle/bin/python
  if ! "$python" -c 'import onnx, onnxruntime, numpy, PIL' 2>/dev/null; then
    rm -rf "$build/oracle"
    echo "Making the Python environment of the tests"
    /usr/bin/python3 -m venv "$build/oracle" &&
      "$python" -m pip install -q -r tests/oracle/requirements.txt >"$build/oracle-pip.log" 2>&1 ||
      echo "It could not be made (see $build/oracle-pip.log): tests that compare with onnxruntime are skipped"
  fi
  "$python" -c 'import onnx, onnxruntime, numpy, PIL' 2>/dev/null && oracle=$PWD/$python
  if [ -n "$oracle" ] && ! cmp -s tests/oracle/requirements.txt "$build/oracle/requirements.txt"; then
    "$python" -m pip install -q -r tests/oracle/requirements.txt >"$build/oracle-pip.log" 2>&1 &&
      cp tests/oracle/requirements.txt "$build/oracle" ||
      echo "Tests that need more packages are skipped (see $build/oracle-pip.log)"
  fi
fi

shared=${VN_SHARED:-}
[ -z "$shared" ] && [ -d ../shared/models ] && shared=$(cd ../shared && pwd)
[ -n "$shared" ] || echo "No folder with real networks: tests that need them are skipped"

configure_build "$build/meson" -Dwerror=false "-Doracle_python=$oracle" "-Dshared_data=$shared"
"$NINJA" -C "$build/meson"

# Tests of widgets bring a display and a session bus of their own.
export LC_ALL=C.UTF-8
unset WAYLAND_DISPLAY DISPLAY
# The bounds of tests are those of a quiet machine; beside other programs a test takes several times as long, and nothing is
# wrong. Two more at a time than there are processors, as windows wait for animations, and mpirun and sandboxes for each other.
"$MESON" test -C "$build/meson" --no-rebuild --print-errorlogs --timeout-multiplier 5 \
  --num-processes "$(($(nproc) + 2))" "$@" && exit
status=$?
/usr/bin/python3 tests/lib/failures.py "$build/meson"   # once more, where a long log ends
exit "$status"
