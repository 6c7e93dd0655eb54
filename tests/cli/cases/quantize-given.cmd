# A table of ranges from calibration gives what the statistics give; given ranges come before those of samples.
data="--data $DEMO/samples --preprocess minus-one-one"
"$CLI" calibrate "$DEMO/demo.onnx" $data -o stats --table table.json --method percentile --percentile 99.9
"$CLI" calibrate "$DEMO/demo.onnx" $data --table again.json --method percentile --percentile 99.9
cmp table.json again.json && head -6 table.json | sed "s/\(\.[0-9]\{5\}\)[0-9]*/\1/"
"$CLI" quantize "$DEMO/demo.onnx" -o stats.onnx --stats stats --method percentile --percentile 99.9 | sed -n 2p
"$CLI" quantize "$DEMO/demo.onnx" -o table.onnx --ranges table.json --method percentile --percentile 99.9 | sed -n 2p
# They differ in the metadata alone, which names the table.
grep -c table.json table.onnx; ls *.onnx; cmp -n $(($(stat -c %s stats.onnx) - 200)) stats.onnx table.onnx && echo same
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --ranges table.json $data | sed -n 2,3p
echo '{"image": [128, 0.0078125], "other": [1, 0.5]}' > some.json
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --ranges some.json
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --ranges some.json --stats stats | sed -n 2p
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --ranges some.json --stats stats --activation s8
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --ranges none.json
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --ranges stats
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --ranges "$DEMO/demo.onnx"
"$CLI" calibrate "$DEMO/demo.onnx" $data --table nowhere/table.json
"$CLI" calibrate "$DEMO/demo.onnx" $data --table table.json --resume
rm *
