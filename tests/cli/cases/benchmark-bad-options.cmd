"$CLI" benchmark "$DEMO/demo.onnx" --seconds -1
echo "exit $?"
"$CLI" benchmark "$DEMO/demo.onnx" --input image=nothing.npy
echo "exit $?"
"$CLI" benchmark "$DEMO/demo.onnx" --input picture=nothing.npy
