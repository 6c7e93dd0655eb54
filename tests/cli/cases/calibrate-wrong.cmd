data="--data $DEMO/samples --preprocess minus-one-one --samples 20"
"$CLI" calibrate "$DEMO/demo.onnx" $data
"$CLI" calibrate "$DEMO/demo.onnx" $data -o nowhere/stats
"$CLI" calibrate "$DEMO/demo.onnx" -o stats
for shard in 0/3 4/3 1 1/ /2 1/2x -1/2; do "$CLI" calibrate "$DEMO/demo.onnx" $data -o stats --shard=$shard; done
"$CLI" calibrate "$DEMO/demo.onnx" $data -o stats --shard 30/40
for k in 1 2; do "$CLI" calibrate "$DEMO/demo.onnx" $data -o part$k --shard $k/2; done
"$CLI" calibrate "$DEMO/demo.onnx" --data "$DEMO/samples" --samples 20 -o part3 --shard 2/2
"$CLI" calibrate "$DEMO/demo.onnx" $data --opset 17 -o part4 --shard 2/2
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --stats part1 --stats part1
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --stats part1 --stats part3
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --stats part1 --stats part4
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --stats "$DEMO/demo.onnx"
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --stats part1 --save-stats other
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $data --resume
"$MAKE_OPEN" pictures pictures.onnx && "$CLI" quantize pictures.onnx -o q.onnx --stats part1
head -c 3000 part1 > damaged
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --stats damaged
"$CLI" calibrate "$DEMO/demo.onnx" --data "$DEMO/samples" --preprocess minus-one-one --samples 30 --held-out 0 -o overlap
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --stats part1 --stats overlap > /dev/null
rm *
