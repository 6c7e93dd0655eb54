"$MAKE_OPEN" branches b.onnx
"$CLI" inspect b.onnx | sed -n '/^Bodies/,$p'
"$CLI" inspect b.onnx --body choice:then_branch --tensors | sed 1d
"$CLI" inspect b.onnx --body "choice:then_branch" --json | grep -c '"nodes"'
"$CLI" inspect b.onnx --body nothing
cat >f.onnxtxt <<'END'
ir_version: 8
opset_import { domain: "" version: 17 }
opset_import { domain: "my" version: 1 }
graph {
  name: "g"
  node {
    name: "choose" op_type: "If" input: "c" output: "y"
    attribute { name: "then_branch" type: GRAPH g {
      name: "t"
      node { name: "call" op_type: "Twice" domain: "my" input: "x" output: "t" }
      output { name: "t" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } } }
    attribute { name: "else_branch" type: GRAPH g {
      name: "e"
      node { name: "same" op_type: "Identity" input: "x" output: "e" }
      output { name: "e" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } } }
  }
  input { name: "c" type { tensor_type { elem_type: 9 shape { } } } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
functions {
  name: "Twice" domain: "my" input: "a" output: "b"
  node { op_type: "Add" input: "a" input: "a" output: "b" }
  opset_import { domain: "" version: 17 }
}
END
"$CLI" inspect f.onnxtxt --body choose:then_branch | sed 1d
rm b.onnx f.onnxtxt
