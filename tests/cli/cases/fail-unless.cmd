# Fails with all written where the verdict is worse than was asked for, and tells it apart from other errors.
data="--data $DEMO/samples --preprocess minus-one-one"
for level in good care; do
  for preset in cpu mx6; do
    "$CLI" quantize "$DEMO/demo.onnx" -o $level-$preset.onnx $data --no-verify --preset $preset --fail-unless $level >/dev/null
    echo "$level $preset: $?"
  done
done
"$CLI" compare "$DEMO/demo.onnx" good-mx6.onnx $data --fail-unless good --json | grep -E '"code" : "verdict"|"level" : "care"'
"$CLI" quantize "$DEMO/demo.onnx" -o float.onnx --preset w8 --fail-unless care --json | grep '"code" : "verdict"'
"$CLI" quantize "$DEMO/demo.onnx" -o none.onnx $data --fail-unless better
"$CLI" quantize "$DEMO/demo.onnx" -o none.onnx $data --fail-unless good --skip-compare
"$CLI" compare "$DEMO/demo.onnx" good-mx6.onnx $data --fail-unless better
