"$CLI" quantize "$DEMO/demo.onnx" -o b.onnx --preset bf16
"$CLI" quantize "$DEMO/demo.onnx" -o m.onnx --preset mx9 --activation s8
"$CLI" quantize "$DEMO/demo.onnx" -o m.onnx --preset mx9 | tail -1
"$CLI" quantize "$DEMO/demo.onnx" -o h.onnx --preset fp16 --float-io=false --data "$DEMO/samples" --preprocess minus-one-one |
  head -4
