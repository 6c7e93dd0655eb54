# What the user says of the task decides what is told of the answers; it is kept in recipes and projects, and changes no byte.
data="--data $DEMO/samples --preprocess minus-one-one --samples 24"
"$CLI" quantize "$DEMO/demo.onnx" -o plain.onnx $data | grep -c kept
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $data --task embedding --save-recipe r.json --save-project p.vernier |
  grep -o "neighbors kept: [0-9.]* %"
cmp plain.onnx q.onnx && echo same
grep '"task"' r.json
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $data --recipe r.json | grep -o "neighbors kept: [0-9.]* %"
"$CLI" quantize p.vernier -o q.onnx | grep -o "neighbors kept: [0-9.]* %"
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $data --task detection > out; grep -c kept out
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $data --task dancing
rm -r *
