mkdir empty; "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data empty
