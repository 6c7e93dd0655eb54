"$MAKE_OPEN" two two.onnx; mkdir a b
for i in 1 2 3 4; do "$MAKE_OPEN" sample 1x$((i + 3))x4 a/$i.npy; "$MAKE_OPEN" sample 1x$((i + 3))x4 b/$i.npy; done
# A mask is filled by rule; what has none needs samples, and at least one input does.
for data in "left=a;right=b" "left=a;right=a;attention_mask=zeros" "left=a;right=random" "left=a" a "left=ones;right=zeros"; do
  echo "== $data"
  "$CLI" quantize two.onnx -o q.onnx --data "$data" --held-out 1 --no-verify 2>&1 | grep -E '^note: The samples have|^vernier-cli'
done
"$CLI" run two.onnx --data "left=a;right=b" -o out
"$CLI" compare two.onnx q.onnx --data "left=a;right=b" | head -2
"$CLI" inspect two.onnx | grep -A 3 Inputs
rm -rf out
