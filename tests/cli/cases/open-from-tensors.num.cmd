"$MAKE_OPEN" words words.onnx; mkdir samples
for i in 1 2 3 4; do "$MAKE_OPEN" sample 1x${i}x4 samples/$i.npy; done
"$CLI" quantize words.onnx -o q.onnx --data samples --held-out 1 | grep -v -E "^ +[^ ]+ dB"
"$CLI" inspect q.onnx | grep words:
