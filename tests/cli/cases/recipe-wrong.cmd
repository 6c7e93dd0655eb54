echo '{"vernier-recipe": 1, "rules": [{"nodes": "x", "percentle": 99}]}' >r.json
"$CLI" quantize "$DEMO/demo.onnx" -o a.onnx --data "$DEMO/samples" --preprocess minus-one-one --recipe r.json
