"$CLI" prepare "$DEMO/demo.onnx"
