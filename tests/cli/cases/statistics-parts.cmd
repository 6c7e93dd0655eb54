# A part of the samples says so, until all parts are there; statistics for another network name what they lack.
data="--data $DEMO/samples --preprocess minus-one-one"
for k in 1 2 3; do "$CLI" calibrate "$DEMO/demo.onnx" $data -o part$k --shard $k/3 > /dev/null; done
for parts in "--stats part1" "--stats part3 --stats part1" "--stats part1 --stats part2 --stats part3"; do
  "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $parts --json | sed -n '/statistics-partial/,/text/p'
done
# A run that came to its end is not made anew, and does not go over other samples.
"$CLI" calibrate "$DEMO/demo.onnx" $data -o whole > /dev/null; cp whole first
"$CLI" calibrate "$DEMO/demo.onnx" $data -o whole --resume; cmp whole first && echo same
"$CLI" calibrate "$DEMO/demo.onnx" $data -o whole --resume --mean 3; cmp whole first && echo same
echo no statistics > whole
"$CLI" calibrate "$DEMO/demo.onnx" $data -o whole --resume; cat whole
rm part? whole first q.onnx
