"$CLI" inspect nowhere.onnx
