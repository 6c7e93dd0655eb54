$CLI quantize $DEMO/demo.onnx -o q.onnx --data $DEMO/samples --preprocess minus-one-one --skip-compare >/dev/null 2>&1
export TMPDIR=$PWD/tmp; mkdir tmp
printf '#!/bin/sh\nsleep 30\n' > slow; printf '#!/bin/sh\nkill -9 $$\n' > crash; chmod +x slow crash
$CLI verify q.onnx --python ./nowhere
$CLI verify q.onnx --python ./slow --timeout 1
$CLI verify q.onnx --python ./crash
VN_PYTHON=./crash $CLI verify q.onnx --json
$CLI verify q.onnx --runs -1
$CLI verify nowhere.onnx
rm q.onnx slow crash
