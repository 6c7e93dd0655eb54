# settings that change nothing beside the others are named, and only those
q () {
  echo "== $*"
  "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --samples 4 --held-out 0 --skip-compare "$@" 2>&1 |
    grep -E '^(warning|problem|.*error|quantize:|.*: .*npu)' | grep -v no-held-out
}
q --percentile 99.9 --two-sided --correction-samples 3 --float-io=false --vendor-domain amd
q --npu-operators Clip --npu-rules none --npu-rounds 3
q --simulate-npu
q --equalize-steps 3 --equalize-threshold 0 --equalize-level 2 --equalize-difference 1e-3
q --align-pad --minimum-scale 1e-30 --float-outputs none
q --preset dynamic --method mse --limit-gates
q --preset fp16 --per-channel --method percentile --percentile 99
q --method percentile --percentile 99 --per-channel
q --preset npu-cnn --bias int32
q --preset npu-cnn --bias int16
q --preset npu-cnn --passes none
q --passes none
echo "== calibrate --percentile 99.9"
"$CLI" calibrate "$DEMO/demo.onnx" -o q.stats --data random --samples 4 --percentile 99.9 2>&1 | grep -E '^warning: percentile'
rm q.stats
