$CLI quantize $DEMO/demo.onnx -o q.onnx --data $DEMO/samples --preprocess minus-one-one --skip-compare >/dev/null
$CLI dump q.onnx --data $DEMO/samples --preprocess minus-one-one -o out
$CLI dump q.onnx --data $DEMO/samples --preprocess minus-one-one -o out
$CLI dump $DEMO/demo.onnx -o other
$CLI dump q.onnx -o out --force | head -1
rm q.onnx
