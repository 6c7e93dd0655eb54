"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --preprocess minus-one-one --skip-compare > /dev/null
"$CLI" compare "$DEMO/demo.onnx" q.onnx --data "$DEMO/samples" --preprocess minus-one-one --top 0
