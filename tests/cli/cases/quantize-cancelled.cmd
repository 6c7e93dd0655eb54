# Ended as soon as it listens to that.
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --samples 1000000 &
while kill -0 $! && ! grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$!/status; do sleep 0.05; done; sleep 0.2; kill -TERM $!; wait $!
