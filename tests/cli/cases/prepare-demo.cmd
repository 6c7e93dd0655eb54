"$CLI" prepare "$DEMO/demo.onnx" -o p.onnx --skip-optimization --verbose 3 && "$CLI" inspect p.onnx | head -3
