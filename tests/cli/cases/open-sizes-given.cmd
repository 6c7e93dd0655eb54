# Sizes that are given: where they are shown, and with inputs whose axes are turned.
"$MAKE_OPEN" pictures open.onnx; "$MAKE_OPEN" words words.onnx
"$CLI" inspect words.onnx --tensors --dim batch=3
"$CLI" inspect open.onnx | sed -n '/Inputs/,/Outputs/p'
"$CLI" prepare open.onnx -o turned.onnx --nhwc-inputs --dim H=8 --dim W=8 >/dev/null; echo "exit $?"
"$CLI" inspect turned.onnx | sed -n '/Inputs/,/Outputs/p'
"$CLI" quantize open.onnx -o q.onnx --passes nhwc-inputs --dim H=8 --dim W=8 --data random -n 2 --skip-compare >/dev/null 2>&1
echo "exit $?"
"$CLI" inspect q.onnx | sed -n '/Inputs/,/Outputs/p'
