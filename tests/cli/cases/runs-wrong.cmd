cp "$DEMO/demo.onnx" .
"$CLI" runs
"$CLI" runs nothing.vernier
"$CLI" runs demo.onnx
"$CLI" quantize demo.onnx -o a.onnx --preset w8 --save-project p.vernier >/dev/null
mv p.vernier-runs/*.json p.vernier-runs/one.json
sed -i 's|p.vernier-runs/[^"]*json|p.vernier-runs/one.json|' p.vernier
"$CLI" quantize p.vernier -o p.vernier-runs/one.json
"$CLI" quantize demo.onnx -o a.onnx --preset w8 --save-project a.vernier --save-recipe a.vernier
echo diary >diary.vernier
"$CLI" quantize demo.onnx -o a.onnx --preset w8 --save-project diary.vernier
cat diary.vernier
rm -r p.vernier-runs
