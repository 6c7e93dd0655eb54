data="--data $DEMO/samples --preprocess minus-one-one"
for held in "" "--held-out 7" "--held-out 0" "--samples 30"; do
  rm -rf p.vernier p.vernier-runs; "$CLI" quantize "$DEMO/demo.onnx" -o a.onnx $data $held --skip-compare \
    --save-project p.vernier >/dev/null
  "$CLI" quantize p.vernier -o b.onnx --skip-compare >/dev/null
  "$CLI" calibrate p.vernier -o stats
  "$CLI" quantize p.vernier --stats stats -o c.onnx --skip-compare >/dev/null
  cmp a.onnx b.onnx && cmp a.onnx c.onnx && echo "$held: the same from the project, and from its statistics"
done
rm -rf p.vernier p.vernier-runs
