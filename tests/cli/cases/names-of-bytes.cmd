# Names of files are bytes, not text: a project with such a name, and of a model with such a name, opens again.
name=$(printf 'n\377')
cp "$DEMO/demo.onnx" "$name.onnx"
"$CLI" quantize "$name.onnx" -o q.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 8 --held-out 0 \
  --save-project "$name.vernier" > /dev/null
echo "exit $?"
"$CLI" quantize "$name.vernier" -o r.onnx > /dev/null; echo "exit $?"
cmp q.onnx r.onnx && echo same
"$CLI" runs "$name.vernier" --json | grep -c '"id"'
rm -r "$name"* q.onnx r.onnx
