"$CLI" quantize "$DEMO/demo.onnx" --data "$DEMO/samples"
