# Options that exclude each other, that need another, or that ask for what cannot be: said at once, not passed over.
cp "$DEMO/demo.onnx" m.onnx; cp m.onnx ./-m.onnx
"$MAKE_OPEN" words words.onnx; "$MAKE_OPEN" sample 1x3x64x64 one.npy; mkdir s; mv one.npy s
try () { "$CLI" "$@" >out; echo "exit $?"; }
q="quantize m.onnx -o q.onnx --data random -n 2"
try $q --origins --skip-compare
try quantize m.onnx -o q.onnx --preset w8 --origins
try $q --save-every 5
try $q --all-tensors-to-one-file
try $q --external-data-location w.bin
try $q --external-data-size-threshold 5
try $q --calibration-samples=-2
try $q --held-out=-7
try $q --mean 1,2
try $q --std nan
try $q --save-project plain
try quantize m.onnx -o q.onnx --data 'nix=s;image=s'
try quantize m.onnx -o q.onnx --data 'image=s;image=s'
try calibrate m.onnx --data random --table t.json --shard 1/2
try compare m.onnx m.onnx --data random --top=-1
try run m.onnx --repeat 0
try run words.onnx --dim batch=1 --dim batch=2
try run words.onnx --dim batch=1 --shape words=2x1x4
try run words.onnx --shape words=2x1x4 --shape words=1x1x4
try run words.onnx --dim batch=none
try inspect m.onnx --dim batch=5
try inspect m.onnx --shape nonsense
try inspect m.onnx m.onnx
try inspect -- -m.onnx
try run m.onnx --input image=s/one.npy --data nofile
try list settings presets
try quantize m.onnx -o q.onnx --data random --preset nix
mkfifo pipe; try inspect pipe; rm pipe
"$CLI" prepare m.onnx -o q.onnx --opset 7 2>&1 | grep opset
"$CLI" quantize m.onnx -o q.onnx --preset w8 --rule '{"to":["/stem/Conv_output_0"],"exclude":true}' 2>&1 >/dev/null | grep Rule
"$CLI" quantize m.onnx -o q.onnx --data random -n 2 --skip-compare --rule '{"tensors":["image"],"min":[0],"max":["1"]}' \
  >/dev/null 2>&1; echo "exit $?"
try run m.onnx --json --nix; cat out
try nix --json; cat out
"$CLI" quantize m.onnx -o q.onnx --data s --preprocess imagenet --skip-compare >/dev/null
rm q.onnx out
