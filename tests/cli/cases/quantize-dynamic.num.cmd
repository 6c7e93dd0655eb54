"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --preset dynamic
"$CLI" inspect q.onnx | grep -E "Integer|DynamicQuantize"
"$CLI" quantize "$DEMO/demo.onnx" -o s.onnx --format integer --data "$DEMO/samples" --preprocess minus-one-one | head -3
"$CLI" quantize "$DEMO/demo.onnx" -o w.onnx --dynamic --data "$DEMO/samples"
"$CLI" quantize "$DEMO/demo.onnx" -o w.onnx --preset dynamic --activation s8
