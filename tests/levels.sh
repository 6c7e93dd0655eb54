#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# levels.sh BUILD: what is built in the folder BUILD, with the loops of each instruction set and with OpenBLAS' kernels for other
# processors: first whether files are the same where that is promised (tests/networks/same_files.py --levels), then the suites.
# What this processor cannot run is skipped, and told. Called by tests/check.sh levels.
#
# “generic” are the loops for processors with less than x86-64-v3, such as those of x86-64-v2. Loops that the compiler makes for
# each instruction set (VN_MULTIVERSION) are chosen by the processor whatever is asked for; builds with a sanitizer have their
# plain form.
set -euo pipefail
source=$(realpath "$(dirname "$0")/..")
build=$(realpath "$1")
. "$source/tests/lib/setup.sh"
[ -x /usr/bin/meson ] && MESON=/usr/bin/meson
unset VN_INSTRUCTION_SET OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

LEVELS=(x86-64-v4 x86-64-v3 generic)
LEVEL_SUITES=(unit cli)
CORE_TYPES=(Haswell SkylakeX Zen)      # beside that of this machine, which all levels run with
CORE_SUITES=(repair train job search cli)
NETWORKS=(mnist_cntk_op8 kws_micro_fp32 cls_mobilenetv2_035_128_flowers vit_cct2_32_op20 aud_dtln_1_lstm det_openseeface_mnv3)
RECIPES=(plain compared percentile weights)
cli=$build/src/cli/vernier-cli
run=0 failed=()

# run_suites WHAT SUITE...: with what is in the environment
run_suites () {
  local what=$1 suites=() log=$build/levels-$1.log
  shift
  for name in "$@"; do suites+=(--suite "$name"); done
  echo "== $what: $*"
  run=$((run + 1))
  "$MESON" test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 8 --logbase "levels-$what" "${suites[@]}" \
    >"$log" 2>&1 || { failed+=("$what"); echo "the log is in $log"; }
  grep -E '^(Ok|Fail|Skipped|Timeout):|FAIL|ERROR|TIMEOUT' "$log" || true
}

# core_in_use NAME: what OpenBLAS takes if NAME is asked for; nothing if it is not there
core_in_use () {
  OPENBLAS_CORETYPE=$1 python3 -c '
import ctypes
blas = ctypes.CDLL("libopenblas.so.0")
blas.openblas_get_corename.restype = ctypes.c_char_p
print(blas.openblas_get_corename().decode())' 2>/dev/null || true
}

same () {
  VN_NO_VERIFY=1 python3 "$source/tests/networks/same_files.py" "$cli" "$source" --levels "$@" || failed+=("same files")
}

echo "== files with the loops and kernels of other processors"
same
[ -z "${VN_SHARED:-}" ] || same --shared --networks "${NETWORKS[@]}" --recipes "${RECIPES[@]}"

for level in "${LEVELS[@]}"; do
  if LC_ALL=C LANGUAGE='' VN_INSTRUCTION_SET=$level "$cli" --version | grep -qE "^Instruction set: $level(,|$)"; then
    VN_INSTRUCTION_SET=$level run_suites "$level" "${LEVEL_SUITES[@]}"
  else
    echo "== $level: skipped, as this processor has less"
  fi
done

for core in "${CORE_TYPES[@]}"; do
  used=$(core_in_use "$core")
  if [ "${used,,}" = "${core,,}" ]; then
    OPENBLAS_CORETYPE=$core run_suites "OpenBLAS-$core" "${CORE_SUITES[@]}"
  else
    echo "== OpenBLAS $core: skipped, as ${used:-nothing} is used in its place"
  fi
done
echo "$run runs of suites"
[ "${#failed[@]}" = 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
[ "$run" -gt 0 ]
