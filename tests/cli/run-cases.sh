#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run-cases.sh CLI SOURCE_DIR MAKE_OPEN [--generate | PART PARTS]: all cases, or every PARTS-th from the one of number PART on
#
# Each cases/NAME.cmd is a command for bash, run in an empty folder with a home of its own; cases/NAME.out is what it must
# print: standard output, then "-- stderr", then "-- exit N", then "-- files" that it left behind. In NAME.num.cmd numbers
# are compared as "#", because their last digits depend on the processor.
# $CLI is the program, $DEMO the demo's folder, $MAKE_OPEN writes networks with open sizes and samples
# (make-open.c). A case without .out fails, and so does running no case.
#
# Cases in $VN_CASES_LEFT_OUT are not run. With $VN_CASES_COSTS, a file, what each costs is added to it: CPU seconds and name.
#
# A run that ends with an error must leave nothing behind and change nothing: watch.py stands between each case and the program,
# and looks at the case's folder, its home and its temporary files.
set -u
CLI=$(realpath "$1")
SOURCE=$(realpath "$2")
MAKE_OPEN=$(realpath "$3")
generate=${4:-}
part=1
parts=1
if [ $# = 5 ]; then
  part=$4
  parts=$5
fi
cases=$SOURCE/tests/cli/cases
TIMEFORMAT='%U %S'
export CLI MAKE_OPEN DEMO=$SOURCE/data/demo LC_ALL=C.UTF-8 LANGUAGE=
n=0
seen=0
failed=0
tried=0
left_out=0
# Ends with an error when everything is written, as what it prints has no place; change files themselves while the command runs;
# kill the program, which nothing may stand before; keep what was written though ONNX Runtime refuses it or the verdict is bad;
# put another Python before the one of watch.py.
unwatched=" verify-install verify-refused verify-runtime quantize-verify.num stdout-full changed-on-disk names-with-controls"
unwatched="$unwatched fail-unless calibrate-resume benchmark-cancelled quantize-cancelled "
program=$CLI
python=$(python3 -c 'import sys; print(sys.executable)')   # not a script that looks for it at each start
kept=$(mktemp -d)
log=$kept/log
trap 'rm -rf "$kept"' EXIT

for cmd in "$cases"/*.cmd; do
  seen=$((seen + 1))
  [ $((seen % parts)) = $((part % parts)) ] || continue
  name=$(basename "$cmd" .cmd)
  if [[ " ${VN_CASES_LEFT_OUT:-} " = *" $name "* ]]; then
    left_out=$((left_out + 1))
    continue
  fi
  work=$(mktemp -d)
  mkdir "$work/run" "$work/tmp"
  : >"$log"
  CLI=$program
  if [ "$generate" != --generate ] && [ "${unwatched/ $name /}" = "$unwatched" ]; then
    CLI=$work/vernier-cli
    printf '#!/bin/sh\nexec %s -I -S %s "$@"\n' "$python" "$SOURCE/tests/cli/watch.py" >"$CLI"
    chmod +x "$CLI"
  fi
  { time (cd "$work/run" && HOME=$work TMPDIR=$work/tmp VN_WATCHED=$work VN_WATCHED_CLI=$program VN_WATCHED_LOG=$log \
    bash "$cmd" >"$kept/stdout" 2>"$kept/stderr"); } 2>"$kept/times"
  code=$?
  [ -z "${VN_CASES_COSTS:-}" ] || awk -v name="$name" '{ print $1 + $2, name }' "$kept/times" >>"$VN_CASES_COSTS"
  tried=$((tried + $(grep -c '^exit ' "$log")))
  if grep -q '^left: ' "$log"; then
    cat "$log"
    echo "not ok $name: a run that failed left something"
    failed=$((failed + 1))
  fi
  {
    cat "$kept/stdout"
    echo "-- stderr"
    cat "$kept/stderr"
    echo "-- exit $code"
    echo "-- files"
    (cd "$work/run" && find . -type f | sort)
  } | sed -e "s|$SOURCE|SOURCE|g" -e "s|$work|WORK|g" >"$kept/all"
  case $name in
    *.num) sed -E -i -e 's/[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?/#/g' -e 's/ +/ /g' "$kept/all" ;;
  esac
  if [ "$generate" = --generate ]; then
    cp "$kept/all" "$cases/$name.out"
  elif ! diff -u "$cases/$name.out" "$kept/all"; then
    echo "not ok $name"
    failed=$((failed + 1))
  fi
  n=$((n + 1))
  rm -rf "$work"
done

echo "$n cases, $failed failed, $left_out left out; $tried runs ended with an error"
[ "$n" -gt 0 ] && [ "$failed" = 0 ] && { [ "$generate" = --generate ] || [ "$tried" -gt 0 ] || [ "$left_out" -gt 0 ]; }
