mkdir photos; cp "$DEMO"/samples/star/*.png photos; echo junk > photos/broken.png
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data photos --preprocess minus-one-one --held-out 2 > /dev/null
