"$CLI" quantize "$DEMO/demo.onnx" -o a.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 4 --held-out 0 \
  --skip-compare --symmetric --exclude type:Softmax --save-recipe r.json >/dev/null
cat r.json
"$CLI" quantize "$DEMO/demo.onnx" -o b.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 4 --held-out 0 \
  --skip-compare --recipe r.json >/dev/null
cmp a.onnx b.onnx && echo same
