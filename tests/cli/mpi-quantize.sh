#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# mpi-quantize.sh CLI SOURCE_DIR measure|repair: processes that share “quantize” write and print the same bytes as one.
# measure: what is learned from samples and measured on them, and what happens to processes; repair: what makes the error smaller.
set -u
CLI=$(realpath "$1")
DEMO=$(realpath "$2")/data/demo
# shellcheck source=mpi-common.sh
. "$(dirname "$(realpath "$0")")/mpi-common.sh"

mkdir data bad && cp "$DEMO"/samples/*/*-1.png data && cp "$DEMO"/samples/*/*-2.png bad && echo no picture >bad/broken.png

# quantize N ARGUMENTS...: by N processes, 0: without mpirun: leaves model, report, what is printed and said
quantize () {
  local n=$1
  shift
  rm -f model.onnx report.json
  set -- "$CLI" quantize "$DEMO/demo.onnx" --no-verify --preprocess minus-one-one -o model.onnx --report report.json "$@"
  if [ "$n" = 0 ]; then "$@" >out 2>err; else mpirun -n "$n" "$@" >out 2>err; fi
}

# shares RANKS FILE ARGUMENTS...: the same bytes from one process and from as many as RANKS says; FILE: (may be empty) what else
# is written
shares () {
  local ranks=$1 file=$2 n
  shift 2
  quantize 0 "$@" || { check "quantize $*" false; return; }
  mkdir -p alone && cp model.onnx report.json out $file alone
  grep '^warning: [^ ]*\.png' err >alone/left-out
  for n in $ranks; do
    quantize "$n" "$@" || { echo "$n processes ended with $?:"; cat err; }
    for kind in model.onnx report.json out $file; do
      check "quantize $* in $n processes: same $kind" cmp "alone/$kind" "$kind"
    done
    grep '^warning: [^ ]*\.png' err >left-out
    check "quantize $* in $n processes: the same is left out" cmp alone/left-out left-out
  done
}

# refused N MESSAGE ARGUMENTS...: fails, says so once, and writes nothing
refused () {
  local n=$1 message=$2
  shift 2
  quantize "$n" "$@"
  check "refused $*: fails" test $? != 0
  check "refused $*: told once" test "$(grep -c "vernier-cli quantize: .*$message" err)" = 1
  check "refused $*: nothing is written" test ! -e model.onnx -a ! -e report.json
}

measure () {
  shares "1 2 4" "" --data data
  shares "2 4" "" --data data --origins --threads 3
  shares "2 4" stats --data bad --origins --save-stats stats
  shares 3 "" --data data --samples 2 --held-out 0
  shares 2 "" --data data --preset w4 --wide-share 0.3
  refused 2 "limited time" --data data --auto
  refused 2 "limited time" --data data --train adaround --train-time 1
  refused 2 "broken.png" --data bad/broken.png
  refused 2 "none.json" --data data --recipe none.json
  rm -f model.onnx out err
  # mpirun gives its processes two seconds to end: so many samples that no processor is done with them by then
  command mpirun -n 2 "$CLI" quantize "$DEMO/demo.onnx" --no-verify --data random --samples 60000 --threads 1 -o model.onnx \
    >out 2>err &
  until grep -q Calibrating err 2>/dev/null; do
    kill -0 $! 2>/dev/null || break
    sleep 0.02
  done
  kill -INT $!
  wait $!
  check "interrupted: ends" test $? != 0
  check "interrupted: nothing is written" test ! -e model.onnx -a ! -s out
}

repair () {
  shares "2 4" "" --data data --rounding second-order --rounding-samples 12
  shares "2 4" "" --data data --range-search outputs
  shares 2 "" --data data --train adaround --train-steps 8 --train-blocks 2 --train-samples 8
  shares 2 "" --data bad --bias-correction guarded --balance-channels folded
  local searched=(--preset w4-matmul --block-method mse --block-size 16)
  shares "2 3" "" --data data "${searched[@]}" --importance
  quantize 0 --data data "${searched[@]}"
  check "the importance matrix changes what is written" test "$(cmp model.onnx alone/model.onnx >/dev/null; echo $?)" = 1
}

"$3"
exit $failed
