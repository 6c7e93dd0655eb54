"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --preprocess minus-one-one --preset qlinear |
  grep -v -E "^ +[^ ]+ dB"
"$CLI" inspect q.onnx | grep -E "QLinear|QGemm|Conv"
"$CLI" quantize "$DEMO/demo.onnx" -o w.onnx --data "$DEMO/samples" --preset qlinear --activation u16
