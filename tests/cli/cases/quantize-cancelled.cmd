# Ended as soon as it listens to that and works.
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --samples 1000000 &
while kill -0 $! && ! { grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$!/status && grep -qs vn-task /proc/$!/task/*/comm; }; do
  sleep 0.05
done
kill -TERM $!; wait $!
