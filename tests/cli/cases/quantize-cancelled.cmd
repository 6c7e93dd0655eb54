"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --samples 1000000 & sleep 1; kill -TERM $!; wait $!
