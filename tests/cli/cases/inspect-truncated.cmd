head -c 100000 "$DEMO/demo.onnx" > cut.onnx; "$CLI" inspect cut.onnx
