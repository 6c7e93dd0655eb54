"$CLI" inspect "$DEMO/demo.onnx"
