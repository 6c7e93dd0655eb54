"$CLI" prepare "$DEMO/demo.onnx" -o p.onnx --opset 99
