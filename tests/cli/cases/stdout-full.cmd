# What could not be printed was not done, whether it was text, JSON or help.
for arguments in "inspect $DEMO/demo.onnx" "inspect $DEMO/demo.onnx --json" "inspect no-such-file --json" "inspect --help" \
  --help --version "run $DEMO/demo.onnx" "prepare --list-passes" "prepare $DEMO/demo.onnx -o p.onnx --json" \
  "evaluate $DEMO/demo.onnx -d random -n 1" "compare $DEMO/demo.onnx $DEMO/demo.onnx -d random -n 1 --json" \
  "calibrate $DEMO/demo.onnx -o s.stats -d random -n 2" "dump $DEMO/demo.onnx -d random -o d --float" \
  "benchmark $DEMO/demo.onnx --repeat 1" "quantize $DEMO/demo.onnx -o q.onnx -d random -n 2 --json"; do
  "$CLI" $arguments >/dev/full
  echo "$arguments: $?"
done
# A closed output is no place for messages: they must not get into the first file that is opened.
"$CLI" prepare $DEMO/demo.onnx -o closed.onnx >&-
echo "closed: $?"
"$CLI" prepare $DEMO/demo.onnx -o closed.onnx >&- 2>&- <&-
echo "all closed: $?"
cmp p.onnx closed.onnx && echo "the model is whole"
rm -rf *.onnx s.stats d
