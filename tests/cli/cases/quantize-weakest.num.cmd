for by in "" --weakest=sqnr; do "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --preprocess minus-one-one \
  --origins $by | sed -n '/^Weakest/,/^In ONNX/p' | head -4; done
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --weakest=size
