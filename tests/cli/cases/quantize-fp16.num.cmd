"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --preset fp16
