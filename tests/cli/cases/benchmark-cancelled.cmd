# Interrupted as soon as it listens to that.
"$CLI" benchmark "$DEMO/demo.onnx" --seconds 80000 &
while kill -0 $! && ! grep -q '^SigCgt:.*[2367abef]$' /proc/$!/status; do sleep 0.05; done; sleep 0.2; kill -INT $!; wait $!
