"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --preset cpu --format weights --block-size 48
