"$CLI" prepare "$DEMO/demo.onnx" -o p.onnx --pass nothing
