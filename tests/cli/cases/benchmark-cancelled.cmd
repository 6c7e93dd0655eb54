# Interrupted as soon as it listens to that and works.
"$CLI" benchmark "$DEMO/demo.onnx" --seconds 80000 &
while kill -0 $! && ! { grep -q '^SigCgt:.*[2367abef]$' /proc/$!/status && grep -qs vn-task /proc/$!/task/*/comm; }; do
  sleep 0.05
done
kill -INT $!; wait $!
