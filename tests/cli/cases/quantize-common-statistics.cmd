# What each sample chooses is counted for the method that asks, and only for it.
RUN="--activation s8 --symmetric-activations --data random"
"$CLI" calibrate "$DEMO/demo.onnx" -o plain.stats --data random --method minmse >/dev/null
"$CLI" calibrate "$DEMO/demo.onnx" -o counted.stats --data random --method minmse-common --symmetric-activations >/dev/null
"$CLI" quantize "$DEMO/demo.onnx" -o once.onnx $RUN --method minmse-common >/dev/null 2>&1
"$CLI" quantize "$DEMO/demo.onnx" -o again.onnx --activation s8 --symmetric-activations --stats counted.stats \
  --method minmse-common >/dev/null 2>&1
cmp once.onnx again.onnx && echo same
"$CLI" quantize "$DEMO/demo.onnx" -o plain.onnx --activation s8 --symmetric-activations --stats plain.stats --method minmse-common
