"$MAKE_OPEN" pictures open.onnx
"$CLI" prepare open.onnx -o fixed.onnx --dim H=10 --dim W=12 && "$CLI" inspect fixed.onnx | grep -A1 -E "Inputs|Outputs"
"$CLI" prepare open.onnx -o nhwc.onnx --nhwc-inputs && "$CLI" inspect nhwc.onnx | grep -A1 Inputs
"$CLI" prepare open.onnx -o part.onnx --dim H=10 --verbose 1
