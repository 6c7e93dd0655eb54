"$CLI" inspect --json "$DEMO/demo.onnx"
