"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --activation float99
