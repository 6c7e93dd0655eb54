"$CLI" run "$DEMO/demo.onnx" --dim batch=2
echo "exit $?"
"$CLI" run "$DEMO/demo.onnx" --dim batch
echo "exit $?"
"$CLI" run "$DEMO/demo.onnx" --shape image=?xy
