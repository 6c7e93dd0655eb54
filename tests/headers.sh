#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# headers.sh SOURCE_DIR BUILD_DIR LAYER[:LOWER...]...
#
# Every header compiles alone, as C11, with nothing but the folders its layer may include from. Of those that a source file of
# their layer includes first the build has shown that; only the others are compiled here.
set -u
src=$1/src
build=$2/src
shift 2
core=$(pkg-config --cflags gio-2.0 gdk-pixbuf-2.0 json-glib-1.0 cairo) || exit 77
list=$(mktemp)
first=$(mktemp)
trap 'rm -f "$list" "$first"' EXIT

# "LAYER HEADER": what source files of the build include before anything else
grep -o '"file": "[^"]*src/[^"]*\.c"' "$build/../compile_commands.json" |
  sed -n 's|.*[./]/src/\([^/]*\)/\(.*\)"|\1/\2|p' | sort -u |
  while read -r file; do
    sed -n "/^ *# *include/{s|^ *# *include *\"\([^\"]*\)\".*|${file%%/*} \1|p;q}" "$src/$file"
  done | sort -u >"$first"

n_built=0
for row in "$@"; do
  layer=${row%%:*}
  includes=" -I$build/$layer -I$build/libvn-$layer.a.p"   # where generated headers are
  for folder in ${row//:/ }; do
    for inside in $(find "$src/$folder" -type d); do
      includes="$includes -I$inside"
    done
  done
  flags=$core
  if [ "$layer" = app ]; then
    flags=$(pkg-config --cflags gtk4 libadwaita-1 json-glib-1.0) || exit 77
  fi
  for header in $(find "$src/$layer" -name '*.h' ! -name '*-template.h' | sort); do
    if grep -qx '#pragma once' "$header" && grep -qxF "$layer ${header##*/}" "$first"; then
      n_built=$((n_built + 1))
      continue
    fi
    echo "$header$includes ${flags% }"   # xargs takes a blank at the end for a line that goes on
  done
done >"$list"

# compile HEADER FLAG...: twice in one file, so that a missing guard is seen, too
compile () {
  local header=$1
  shift
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -DGETTEXT_PACKAGE='"vernier"' -Wall -Wextra -Werror -Wno-unused-parameter \
      -Wno-missing-field-initializers -Wno-unused-function -fsyntax-only "$@" -x c - || {
    echo "not ok ${header#"$src"/}"
    return 1
  }
}
export -f compile
export src

xargs -a "$list" -P 2 -L 1 bash -c 'compile "$@"' compile
code=$?
echo "$(wc -l <"$list") headers, and $n_built that the build has compiled alone"
[ "$code" = 0 ] && [ -s "$list" ] && [ "$n_built" -gt 0 ]
