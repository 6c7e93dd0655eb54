mkdir work moved && cp "$DEMO/demo.onnx" work/ && cp -r "$DEMO/samples" work/samples
"$CLI" quantize work/demo.onnx -o a.onnx --data work/samples --preprocess minus-one-one --samples 4 --held-out 0 --skip-compare \
  --per-channel --exclude type:Softmax --save-project work/p.vernier >/dev/null
sed 's/"digest" : "[0-9a-f]*"/"digest" : "…"/' work/p.vernier | head -30
rmdir moved && mv work moved
"$CLI" quantize moved/p.vernier -o b.onnx --held-out 0 --skip-compare >/dev/null
cmp a.onnx b.onnx && echo same
"$CLI" quantize moved/p.vernier -o c.onnx --preset cpu
rm -r moved/samples
"$CLI" quantize moved/p.vernier -o c.onnx
ls c.onnx 2>/dev/null
rm -r moved
