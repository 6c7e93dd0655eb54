"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --weight s8 --block-size 32 --data "$DEMO/samples"
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --format integer --block-size 32 --data "$DEMO/samples"
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --weight float8e4m3fn --format weights --block-size 32
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --weight s4 --block-size 16 --data "$DEMO/samples" --preprocess minus-one-one |
  head -2
"$CLI" inspect q.onnx | grep -E "opset|DequantizeLinear"
