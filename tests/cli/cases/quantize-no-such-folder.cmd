"$CLI" quantize "$DEMO/demo.onnx" -o nowhere/q.onnx --data random --samples 4 --skip-compare
