"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --preprocess minus-one-one --per-channel --report report |
  grep -v -E "^ +[^ ]+ dB"; ls
