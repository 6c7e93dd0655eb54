"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --samples 2 --truncate /blocks/3/Ad_output_0
