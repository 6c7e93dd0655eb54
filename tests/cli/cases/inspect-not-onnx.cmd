echo "this is a text file, not a network" > text.onnx; "$CLI" inspect text.onnx
