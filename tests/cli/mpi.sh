#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# mpi.sh CLI SOURCE_DIR: processes that share “calibrate”, “compare” or “evaluate” make the same bytes as one, whatever happens
# to them.
set -u
CLI=$(realpath "$1")
DEMO=$(realpath "$2")/data/demo
# shellcheck source=mpi-common.sh
. "$(dirname "$(realpath "$0")")/mpi-common.sh"

calibrate () { "$CLI" calibrate "$DEMO/demo.onnx" "$@"; }

data=(--data "$DEMO/samples" --preprocess minus-one-one)
calibrate "${data[@]}" -o one >/dev/null || exit 1
for n in 1 2 3; do
  mpirun -n $n "$CLI" calibrate "$DEMO/demo.onnx" "${data[@]}" -o many >out 2>err || cat err
  check "$n processes" cmp one many
  check "$n processes: one result" test "$(grep -c statistics out)" = 1
  rm -f many
done

# More processes than samples.
calibrate "${data[@]}" --samples 2 -o two >/dev/null
mpirun -n 3 "$CLI" calibrate "$DEMO/demo.onnx" "${data[@]}" --samples 2 -o many >/dev/null 2>&1
check "more processes than samples" cmp two many

# A sample that cannot be read is left out, and told of once.
mkdir data && cp "$DEMO"/samples/*/*-1.png data && echo no picture >data/broken.png
calibrate --data data -o one >/dev/null 2>&1
mpirun -n 3 "$CLI" calibrate "$DEMO/demo.onnx" --data data -o many >/dev/null 2>err
check "unreadable: same bytes" cmp one many
check "unreadable: told once" test "$(grep -c broken.png err)" = 1
mpirun -n 2 "$CLI" calibrate "$DEMO/demo.onnx" --data data/broken.png -o none >out 2>err
check "only unreadable: fails" test $? != 0
check "only unreadable: told once" test "$(grep -c 'vernier-cli calibrate:' err)" = 1
check "only unreadable: no file" test ! -e none

# One clear message from all.
for wrong in "$DEMO/none.onnx --data random -o none" "$DEMO/demo.onnx --data random -o none --shard 5" \
             "$DEMO/demo.onnx --data random -o nowhere/none" "$DEMO/demo.onnx --dta random -o none"; do
  # shellcheck disable=SC2086
  mpirun -n 2 "$CLI" calibrate $wrong >out 2>err
  check "wrong: fails" test $? != 0
  check "wrong: told once" test "$(grep -c 'vernier-cli calibrate:' err)" = 1
done

# Comparing: the samples of the loop are shared; the first process prints and writes the same bits as one alone.
"$CLI" quantize "$DEMO/demo.onnx" "${data[@]}" --samples 8 -o quantized.onnx >/dev/null 2>&1 || exit 1
# compare N FILE ARGUMENTS...: what N processes print and write
compare () {
  local n=$1 file=$2
  shift 2
  if [ "$n" = 0 ]; then set -- "$CLI" compare "$@"; else set -- mpirun -n "$n" "$CLI" compare "$@"; fi
  "$@" >"$file" 2>"$file.err"
}
for kept in "" "--samples 3" "--json"; do
  # shellcheck disable=SC2086
  compare 0 one "$DEMO/demo.onnx" quantized.onnx "${data[@]}" $kept
  numbers="1 2 4"
  [ -z "$kept" ] || numbers=4
  for n in $numbers; do
    # shellcheck disable=SC2086
    compare $n many "$DEMO/demo.onnx" quantized.onnx "${data[@]}" $kept --report many.json
    check "compare $kept in $n processes: same bytes" cmp one many
    check "compare $kept in $n processes: a report" test -s many.json
    rm -f many.json
  done
done
compare 0 one "$DEMO/demo.onnx" quantized.onnx --data data
for n in 2 4; do
  compare $n many "$DEMO/demo.onnx" quantized.onnx --data data
  check "compare, unreadable, in $n processes: same bytes" cmp one many
  check "compare, unreadable, in $n processes: told once" test "$(grep -c broken.png many.err)" = "$(grep -c broken.png one.err)"
done

# Evaluating: of the samples, too.
for kept in "" "--samples 3" "--json" "--task embedding --json" "--report report"; do
  # shellcheck disable=SC2086
  "$CLI" evaluate "$DEMO/demo.onnx" quantized.onnx "${data[@]}" $kept >one 2>/dev/null
  test -e report && mv report alone
  numbers="2 4"
  [ -z "$kept" ] || numbers=4
  for n in $numbers; do
    # shellcheck disable=SC2086
    mpirun -n $n "$CLI" evaluate "$DEMO/demo.onnx" quantized.onnx "${data[@]}" $kept >many 2>/dev/null
    check "evaluate $kept in $n processes: same bytes" cmp one many
    test "$kept" != "--report report" || check "evaluate in $n processes: same report" cmp alone report
  done
done

compare 2 none "$DEMO/demo.onnx" quantized.onnx --data data/broken.png
check "compare, only unreadable: fails" test $? != 0
check "compare, only unreadable: told once" test "$(grep -c 'vernier-cli compare:' none.err)" = 1
compare 2 none "$DEMO/demo.onnx" none.onnx "${data[@]}"
check "compare, wrong: fails" test $? != 0
check "compare, wrong: told once" test "$(grep -c 'vernier-cli compare:' none.err)" = 1
command mpirun -n 2 "$CLI" compare "$DEMO/demo.onnx" quantized.onnx --data random --samples 3000 --threads 1 >cut 2>cut.err &
until [ -s cut.err ]; do
  kill -0 $! 2>/dev/null || break
  sleep 0.02
done
kill -INT $!
wait $!
check "compare, interrupted: ends" test $? != 0
check "compare, interrupted: prints nothing" test ! -s cut

# A process that is killed, or all of them: what was kept is taken up by another number of them.
long=(--data random --samples 8000 --save-every 0.02)
rm -f many
calibrate "${long[@]}" -o one >/dev/null
for resumed in 1 3; do
  command mpirun -n 2 "$CLI" calibrate "$DEMO/demo.onnx" "${long[@]}" --threads 1 -o many >/dev/null 2>err &
  while [ ! -e many.part-0 ] || [ ! -e many.part-1 ]; do
    kill -0 $! 2>/dev/null || break
    sleep 0.02
  done
  check "interrupted in time" test ! -e many
  kill -INT $!
  wait $!
  check "interrupted: something is kept" test -e many.part-0
  mpirun -n $resumed "$CLI" calibrate "$DEMO/demo.onnx" "${long[@]}" --resume -o many >/dev/null 2>err
  check "resumed by $resumed" cmp one many
  check "nothing is left over" test ! -e many.part -a ! -e many.part-0 -a ! -e many.part-1 -a ! -e many.part-2
  rm -f many*
done
exit $failed
