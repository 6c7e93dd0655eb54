timeout --preserve-status -s INT 1 "$CLI" benchmark "$DEMO/demo.onnx" --seconds 80000
