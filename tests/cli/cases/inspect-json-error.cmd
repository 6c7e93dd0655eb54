"$CLI" inspect --json nowhere.onnx
