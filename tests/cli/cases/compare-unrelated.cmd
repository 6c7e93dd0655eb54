"$CLI" compare "$DEMO/demo.onnx" "$DEMO/nowhere.onnx" --data "$DEMO/samples"
