"$CLI" run "$DEMO/demo.onnx" --input nosuch=x.npy
