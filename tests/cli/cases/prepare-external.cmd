"$CLI" prepare "$DEMO/demo.onnx" -o p.onnx --save-as-external-data --external-data-size-threshold 20000 &&
  "$CLI" prepare p.onnx -o q.onnx --save-as-external-data --all-tensors-to-one-file --external-data-location w.bin
