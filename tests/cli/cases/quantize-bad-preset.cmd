"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --preset nosuch
