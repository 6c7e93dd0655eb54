"$MAKE_OPEN" words words.onnx; "$MAKE_OPEN" pictures open.onnx
try () { "$CLI" "$@" > /dev/null; echo "exit $?"; }
for shape in words words= words=1x words=x1 words=1xx4 words=1x-2x4 words=1x2.5x4 words=99999999999x1x4; do
  try run words.onnx --shape $shape
done
for dim in batch batch= batch=? batch=1x2 batch=-1 width=3 =3; do try run words.onnx --dim $dim; done
try run words.onnx --shape words=1x4
try run words.onnx --shape words=1x2x5
try run open.onnx --dim H=9 --dim W=8
try run words.onnx --shape word=1x2x4
mkdir samples; "$MAKE_OPEN" sample 1x5x3 samples/1.npy
try quantize words.onnx -o q.onnx --data samples
try quantize words.onnx -o q.onnx --data random -n 2 --shape words=1x4
