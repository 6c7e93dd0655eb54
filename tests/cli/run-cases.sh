#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run-cases.sh CLI SOURCE_DIR MAKE_OPEN [--generate]
#
# Each cases/NAME.cmd is a command for bash, run in an empty folder with a home of its own; cases/NAME.out is what it must
# print: standard output, then "-- stderr", then "-- exit N", then "-- files" that it left behind. In NAME.num.cmd numbers
# are compared as "#", because their last digits depend on the processor.
# $CLI is the program, $DEMO the demo's folder, $MAKE_OPEN writes networks with open sizes and samples
# (make-open.c). A case without .out fails, and so does running no case.
set -u
CLI=$(realpath "$1")
SOURCE=$(realpath "$2")
MAKE_OPEN=$(realpath "$3")
generate=${4:-}
cases=$SOURCE/tests/cli/cases
export CLI MAKE_OPEN DEMO=$SOURCE/data/demo LC_ALL=C.UTF-8 LANGUAGE=
n=0
failed=0

for cmd in "$cases"/*.cmd; do
  name=$(basename "$cmd" .cmd)
  work=$(mktemp -d)
  mkdir "$work/run"
  (cd "$work/run" && HOME=$work bash "$cmd" >"$work/stdout" 2>"$work/stderr")
  code=$?
  {
    cat "$work/stdout"
    echo "-- stderr"
    cat "$work/stderr"
    echo "-- exit $code"
    echo "-- files"
    (cd "$work/run" && find . -type f | sort)
  } | sed -e "s|$SOURCE|SOURCE|g" -e "s|$work|WORK|g" >"$work/all"
  case $name in
    *.num) sed -E -i -e 's/[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?/#/g' -e 's/ +/ /g' "$work/all" ;;
  esac
  if [ "$generate" = --generate ]; then
    cp "$work/all" "$cases/$name.out"
  elif ! diff -u "$cases/$name.out" "$work/all"; then
    echo "not ok $name"
    failed=$((failed + 1))
  fi
  n=$((n + 1))
  rm -rf "$work"
done

echo "$n cases, $failed failed"
[ "$n" -gt 0 ] && [ "$failed" = 0 ]
