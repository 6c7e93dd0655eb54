$CLI quantize $DEMO/demo.onnx -o q.onnx --data $DEMO/samples --preprocess minus-one-one --skip-compare >/dev/null
$CLI evaluate $DEMO/demo.onnx q.onnx --data $DEMO/samples --preprocess minus-one-one --report table.md
cat table.md
