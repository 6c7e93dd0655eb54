"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --preset w8 --data "$DEMO/samples" --preprocess minus-one-one -n 4 |
  grep -v -E "^ +[^ ]+ dB"
