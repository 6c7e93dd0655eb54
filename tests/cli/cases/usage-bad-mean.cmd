"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --mean 1,x
