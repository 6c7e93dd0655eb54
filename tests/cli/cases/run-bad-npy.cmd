echo junk > x.npy; "$CLI" run "$DEMO/demo.onnx" --input image=x.npy
