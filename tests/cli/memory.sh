#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# memory.sh CLI SOURCE_DIR MAKE_LARGE [N]
#
# Runs the commands at N limits of memory, from where the process starts to where all of them have enough. Each run must
# give what it gives without a limit, or fail, say that memory was short, and leave no file behind.
#
# GLib ends a process that cannot have some memory, with the number of bytes in its message and a signal. For memory that
# grows with a tensor that must never happen, and for small memory neither, because the program leaves room for it (see
# vn-memory.c) and does not start without: so no signal is accepted, and the message is shown.
set -u
CLI=$(realpath "$1")
SAMPLES=$(realpath "$2")/data/demo/samples
MAKE_LARGE=$(realpath "$3")
export LC_ALL=C.UTF-8 LANGUAGE= SOURCE_DATE_EPOCH=1700000000   # reports tell the minute
FIRST=70000 LAST=900000 N=${4:-10}

(ulimit -v $LAST && "$CLI" --version) >/dev/null 2>&1 ||
  { echo "the program does not start with $LAST KB (a sanitizer?)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$MAKE_LARGE" large.onnx || exit 1
"$CLI" quantize large.onnx -o small.onnx --data "$SAMPLES" -n 2 >/dev/null 2>&1 || exit 1
data=(--data "$SAMPLES" -n 2)

# command NAME THREADS
command () {
  case $1 in
    quantize)  timeout 100 "$CLI" quantize ../large.onnx "${data[@]}" -t $2 -o q.onnx --report report ;;
    calibrate) timeout 100 "$CLI" calibrate ../large.onnx "${data[@]}" -t $2 -o s.stats --held-out 0 ;;
    compare)   timeout 100 "$CLI" compare ../large.onnx ../small.onnx "${data[@]}" -t $2 --report c.md ;;
    evaluate)  timeout 100 "$CLI" evaluate ../large.onnx ../small.onnx "${data[@]}" -t $2 --report e.md ;;
    dump)      timeout 100 "$CLI" dump ../small.onnx "${data[@]}" -t $2 -o d --float ;;
    prepare)   timeout 100 "$CLI" prepare ../large.onnx -o p.onnx -t $2 ;;
    run)       timeout 100 "$CLI" run ../small.onnx "${data[@]}" -t $2 -o r ;;
  esac
}

# attempt FOLDER NAME THREADS LIMIT: prints what came out: text without times, exit status, and digests of files
attempt () {
  rm -rf "$1" && mkdir "$1" && cd "$1" || exit 1
  (ulimit -v "$4" && command "$2" "$3") >../text 2>../messages
  echo "exit $?" >../status
  sed -E 's/[0-9.]+ ms/# ms/' ../text
  cat ../status
  find . -type f -exec sha256sum {} + | sort -k 2
  cd ..
}

failed=0
n=0
for name in quantize calibrate compare evaluate dump prepare run; do
  right=0
  refused=0
  attempt whole $name 1 unlimited >expected
  grep -q "^exit 0" expected || { echo "not ok $name fails without a limit"; cat messages; exit 1; }
  for ((i = 0; i < N; i++)); do
    limit=$(awk "BEGIN { printf \"%d\", $FIRST * ($LAST / $FIRST) ^ ($i / ($N - 1)) }")
    attempt limited $name $((1 + i % 2 * 2)) $limit >found
    n=$((n + 1))
    if cmp -s expected found; then
      right=$((right + 1))
    elif grep -q "^exit 1$" status && grep -q "ut of memory" messages && [ -z "$(find limited -type f)" ]; then
      refused=$((refused + 1))
    else
      echo "not ok $name at $limit KB"
      cat messages
      diff expected found
      failed=$((failed + 1))
    fi
  done
  echo "# $name: $right right, $refused refused"
  if [ $right = 0 ] || [ $refused = 0 ]; then
    echo "not ok $name: the limits do not reach from too little to enough"
    failed=$((failed + 1))
  fi
done
echo "$n runs, $failed failed"
[ $n = $((7 * N)) ] && [ $failed = 0 ]
