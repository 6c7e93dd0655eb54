"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --method nosuch
