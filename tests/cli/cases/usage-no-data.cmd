"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx
