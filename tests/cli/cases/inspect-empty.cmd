: > empty.onnx; "$CLI" inspect empty.onnx
