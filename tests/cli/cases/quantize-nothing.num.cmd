# a network without a matrix that MatMulNBits could hold: a file that is called quantized, and is not, helps nobody
"$MAKE_OPEN" pictures pictures.onnx
"$CLI" quantize pictures.onnx -o q.onnx --preset w4-matmul
"$CLI" quantize pictures.onnx -o q.onnx --preset w8 --exclude 'type:*' --skip-compare 2>&1 | grep -i nothing
rm q.onnx
