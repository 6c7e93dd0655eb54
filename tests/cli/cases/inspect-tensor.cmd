# What constants hold, as in the window: floats, stored integers and what they stand for, saved.
"$CLI" inspect "$DEMO/demo.onnx" --weights | sed -n '/^Weights/,$p' | sed -n '3p' | cut -c1-30
weight=$("$CLI" inspect "$DEMO/demo.onnx" --weights --json | sed -n 's/.*"name" : "\(.*weight[^"]*\)".*/\1/p' | head -1)
"$CLI" inspect "$DEMO/demo.onnx" --tensor "$weight" --save-tensor w.npy | sed 's/^  -*[0-9].*…/  …/'
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random -n 2 --per-channel --skip-compare --no-verify >log 2>&1 || cat log
"$CLI" inspect q.onnx --tensor /stem/Conv --save-tensor real.npy | grep -E 'Type|Shape|Size|Levels|Zeros|elements' |
  sed 's/^  -*[0-9].*…/  …/'
"$CLI" inspect q.onnx --tensor /stem/Conv --integers --save-tensor int.npy --json | tr -d ' \n' |
  grep -o '"values":\["[-0-9]*"' | sed 's/[-0-9][0-9]*/N/'
for file in w real int; do head -c 60 $file.npy | tail -c 50 | tr -d '\n'; echo; done
try () { "$CLI" inspect "$DEMO/demo.onnx" "$@"; echo "exit $?"; }
try --tensor nobody
try --integers
try --tensor "$weight" --save-tensor "$DEMO/demo.onnx"
rm *.npy q.onnx log
