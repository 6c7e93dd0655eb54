# beside a project --samples takes another number of its samples; what it says of reading them stays, and that is said
"$CLI" quantize "$DEMO/demo.onnx" -o a.onnx --data "$DEMO/samples" --preprocess minus-one-one --held-out 0 --skip-compare \
  --save-project p.vernier >/dev/null
"$CLI" quantize "$DEMO/demo.onnx" -o two.onnx --data "$DEMO/samples" --preprocess minus-one-one -n 2 --held-out 0 \
  --skip-compare 2>/dev/null | grep calibrated
"$CLI" quantize p.vernier -o b.onnx -n 2 --held-out 0 --skip-compare | grep calibrated
cmp two.onnx b.onnx && echo same
cmp -s a.onnx b.onnx || echo "other than with all"
"$CLI" quantize p.vernier -o c.onnx -n -1
"$CLI" quantize p.vernier -o c.onnx --mean 1,2,3 --crop 8 --skip-compare --held-out 0 2>&1 >/dev/null | grep nothing
"$CLI" calibrate p.vernier -o stats --color bgr -n 3 2>&1 | grep -E "nothing|samples"
"$CLI" quantize "$DEMO/demo.onnx" -o d.onnx --preset w8 -n 5 --std 2 2>&1 >/dev/null | grep nothing
rm -rf *.onnx p.vernier p.vernier-runs stats
