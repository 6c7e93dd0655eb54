#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# matrix.sh [--work FOLDER] [--mirror ADDRESS] [SUITE...] [-- PART...]: what is committed, in each version of Debian (bookworm and
# trixie, unless named), by its compilers: parts of tests/check.sh, “gcc clang” unless named. As root, on Debian; hours, and 5 GB
# for each.
#
#   bookworm   Debian 12: GCC 12, Clang 14, GTK 4.8,  GLib 2.74
#   trixie     Debian 13: GCC 14, Clang 19, GTK 4.18, GLib 2.84
#   arm64      Debian 12 for AArch64, cross-compiled (tests/lib/aarch64-linux-gnu.ini) and run by QEMU, which takes Linux 6.7.
#              PART: “same” compares files with those of the usual build for x86-64, which tests/run.sh has made; “package”
#              makes the packages, with the window, and quantizes the demo by what they install; others are suites of tests,
#              without the window. “same unit fuzz-replay cli package” unless named. Programs take up to 60 times their time:
#              tests that take 2 s of CPU time or more without QEMU, which is measured first, are left out, and told, unless
#              “--every” stands before the first PART
#
# Systems are set up by debootstrap and removed at the end; logs are in FOLDER/matrix-SUITE.log. FOLDER is build-matrix unless
# named. ADDRESS is where Debian's packages come from, unless named: what apt on this machine uses.
set -euo pipefail

source=$(realpath "$(dirname "$0")/..")
. "$source/data/debian/system.sh"
read_arguments "$source/build-matrix" "$@"
failed=()
. "$source/tests/lib/arm64.sh"

# try_versions: parts of tests/check.sh in $suite
try_versions () {
  local parts=("${rest[@]:-}")
  [ "${#rest[@]}" -gt 0 ] || parts=(gcc clang)
  make_base
  system=$work/matrix-$suite
  copy_base "$system" "$suite"
  hurry "$system"
  mkdir "$system/source"
  git -C "$source" archive HEAD | tar -x -C "$system/source"
  say "${parts[*]}: the log is in $work/matrix-$suite.log"
  enter "$system" "$suite" sh -c "apt-get -q -y --no-install-recommends install clang gcc git >/dev/null 2>&1
    gcc --version | head -1; clang --version | head -1
    cd /source && tests/check.sh ${parts[*]}" >"$work/matrix-$suite.log" 2>&1 ||
    failed+=("$suite")
  grep -E '^(== |gcc |Debian clang|Ok:|Fail:|Skipped:|failed:)' "$work/matrix-$suite.log" || true
  rm -rf "$system"
}

for suite in "${suites[@]}"; do
  if [ "$suite" = arm64 ]; then try_arm64; else try_versions; fi
done
[ "${#failed[@]}" = 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
