"$CLI" prepare "$DEMO/demo.onnx" -o p.onnx --save-as-external-data --external-data-location ../w
