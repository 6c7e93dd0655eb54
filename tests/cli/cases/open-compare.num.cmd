# Sizes that both networks leave open: given, of samples, missing, and of the one that fixes them.
"$MAKE_OPEN" pictures open.onnx
mkdir samples; "$MAKE_OPEN" sample 1x3x6x10 samples/1.npy; "$MAKE_OPEN" sample 1x3x6x10 samples/2.npy
"$CLI" quantize open.onnx -o q.onnx --data samples --skip-compare >/dev/null 2>&1
"$CLI" prepare open.onnx -o fixed.onnx --shape image=1x3x8x10 >/dev/null
"$CLI" inspect fixed.onnx | grep 'image:'
try () { echo "$@"; "$CLI" compare "$@" --top 1 | grep tensors; }
try open.onnx q.onnx --data random -n 2 --dim H=8 --dim W=8
try open.onnx q.onnx --data samples
try open.onnx q.onnx --data random -n 2
try open.onnx q.onnx --data random -n 2 --dim H=9 --dim W=8
try open.onnx fixed.onnx --data random -n 2
"$CLI" calibrate open.onnx --data random -n 2 -o stats.json
