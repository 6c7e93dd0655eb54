"$CLI" inspect "$DEMO/demo.onnx" --preflight
