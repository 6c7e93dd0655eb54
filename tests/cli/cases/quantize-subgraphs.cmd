# Branches of an If: left in float unless they are asked for, and where no sample has come.
"$MAKE_OPEN" branches branches.onnx
mkdir words down
for i in 1 2 3; do "$MAKE_OPEN" sample 1x${i}x4 words/$i.npy; done
cp words/[12].npy down
data="--held-out 0 --subgraphs"
"$CLI" quantize branches.onnx --data words -o float.onnx
"$CLI" quantize branches.onnx --data words $data -o inside.onnx --save-stats kept | sed -n 2,3p
"$CLI" quantize branches.onnx --stats kept -o again.onnx --subgraphs > /dev/null && cmp inside.onnx again.onnx && echo same
"$CLI" quantize branches.onnx --data down $data -o again.onnx --save-stats one-branch | sed -n 2p
"$CLI" quantize branches.onnx --stats one-branch -o again.onnx --subgraphs --only-nodes down | sed -n 2p
"$CLI" quantize branches.onnx --stats one-branch -o again.onnx --subgraphs --only-nodes up
"$CLI" quantize branches.onnx --data words $data -o again.onnx --exclude choice --skip-compare | sed -n 2p
"$CLI" calibrate branches.onnx --data words $data -o kept --table table.json
grep -o '"choice:[^"]*"' table.json
"$CLI" quantize branches.onnx --ranges table.json --subgraphs -o again.onnx | sed -n 2p
rm -r *.onnx kept one-branch table.json words down
