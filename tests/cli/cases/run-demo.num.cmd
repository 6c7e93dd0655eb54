"$CLI" run "$DEMO/demo.onnx" --data "$DEMO/samples/star" --preprocess minus-one-one -o out
