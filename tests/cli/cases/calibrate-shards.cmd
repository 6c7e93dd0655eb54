# Parts joined in any order are the whole, byte for byte, and so is what is quantized with them.
data="--data $DEMO/samples --preprocess minus-one-one"
for method in minmax percentile; do
  "$CLI" quantize "$DEMO/demo.onnx" -o whole-$method.onnx $data --method $method --skip-compare --save-stats saved > /dev/null
done
for k in 1 2 3; do "$CLI" calibrate "$DEMO/demo.onnx" $data -o part$k --shard $k/3 --threads $k; done
"$CLI" calibrate "$DEMO/demo.onnx" $data -o whole
cmp whole saved && echo "calibrate and quantize --save-stats: same"
for order in "1 2 3" "3 1 2" "2 3 1"; do
  set -- $order
  for method in minmax percentile; do
    "$CLI" quantize "$DEMO/demo.onnx" -o parts.onnx --stats part$1 --stats part$2 --stats part$3 --method $method > /dev/null
    cmp parts.onnx whole-$method.onnx && echo "$order $method: same"
  done
done
# Samples that are given as well measure the error, on those that the statistics have not seen.
"$CLI" quantize "$DEMO/demo.onnx" -o measured.onnx --stats whole $data | head -3 | tail -2
cmp measured.onnx whole-minmax.onnx && echo same
"$CLI" quantize "$DEMO/demo.onnx" -o measured.onnx --stats part1 $data --held-out 0 | sed -n 2p
"$CLI" calibrate "$DEMO/demo.onnx" $data -o all --held-out 0
"$CLI" quantize "$DEMO/demo.onnx" -o measured.onnx --stats all $data | sed -n 2p
# Another opset writes the same network in other words.
"$CLI" quantize "$DEMO/demo.onnx" -o wide.onnx --stats whole --activation u16 | sed -n 2p
rm *.onnx part? whole saved all
