"$MAKE_OPEN" words words.onnx; "$MAKE_OPEN" sample 1x2x4 w.npy
try () { "$CLI" "$@" > /dev/null; echo "exit $?"; }
try run words.onnx --shape word=1x2x4
try run words.onnx --input word=w.npy
try run words.onnx --input words
try run words.onnx --input words=w.npy --input words=w.npy
try run words.onnx --input words=nosuch.npy
try benchmark words.onnx --shape word=1x2x4
try quantize words.onnx -o q.onnx --data random --shape word=1x2x4
cp w.npy a=b.npy; try run words.onnx --input words=a=b.npy
