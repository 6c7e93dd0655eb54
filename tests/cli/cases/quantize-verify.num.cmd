# The export is kept where ONNX Runtime cannot be asked, and the report says what its figures are.
data="--data $DEMO/samples --preprocess minus-one-one"
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $data --verify --python ./nopython | grep "^In ONNX Runtime"
"$CLI" quantize "$DEMO/demo.onnx" -o r.onnx $data --verify --python /bin/true --report report | grep "^In ONNX Runtime"
cmp q.onnx r.onnx && grep -E "^. (Multi|Time)" report/report.md
grep -E "_from|\"onnxruntime|not-verified" report/report.json
