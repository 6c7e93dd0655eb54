"$CLI" inspect --frobnicate "$DEMO/demo.onnx"
