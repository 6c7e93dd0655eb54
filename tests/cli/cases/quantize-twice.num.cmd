"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random -n 4 --skip-compare > /dev/null
"$CLI" quantize q.onnx -o qq.onnx --data random -n 4
