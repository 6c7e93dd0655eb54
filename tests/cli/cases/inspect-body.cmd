"$MAKE_OPEN" branches b.onnx
"$CLI" inspect b.onnx | sed -n '/^Bodies/,$p'
"$CLI" inspect b.onnx --body choice:then_branch --tensors | sed 1d
"$CLI" inspect b.onnx --body "choice:then_branch" --json | grep -c '"nodes"'
"$CLI" inspect b.onnx --body nothing
rm b.onnx
