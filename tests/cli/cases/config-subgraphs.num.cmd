echo '{"subgraphs": [{"name": "one", "start_nodes": ["nowhere"], "end_nodes": ["nowhere"]}]}' >c.json
"$CLI" quantize "$DEMO/demo.onnx" -o a.onnx --data "$DEMO/samples" --preprocess minus-one-one --config c.json
echo '{"overall_quantize_config": {"datatype": "int", "bit_width": 8, "method": "maxmin"}, "include_cle": true}' >c.json
"$CLI" quantize "$DEMO/demo.onnx" -o a.onnx --data "$DEMO/samples" --preprocess minus-one-one --config c.json --samples 24 \
  --held-out 8 | head -1
"$CLI" quantize "$DEMO/demo.onnx" -o a.onnx --data "$DEMO/samples" --config c.json --preset cpu
