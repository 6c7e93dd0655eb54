"$MAKE_OPEN" metadata open.onnx; mkdir photos
picture () { printf 'P6 %d %d 255\n' $2 $3; head -c $((3 * $2 * $3)) "$DEMO/demo.onnx"; }
picture 1 70 75 > photos/1.ppm
picture 2 40 90 > photos/2.ppm
# What the file says is taken, what an option says comes before it; the report of the run keeps it.
for options in "" "--mean 0 --std 1" "--fit stretch" "--preprocess minus-one-one" "--shape image=1x3x40x40"; do
  echo "== $options"
  "$CLI" quantize open.onnx -o q.onnx --data photos --held-out 1 --no-verify $options --json > all || cat all
  grep -A 2 -E '"data-(metadata|size|range)"' all
  "$CLI" quantize open.onnx -o q.onnx --data photos --held-out 1 --no-verify $options 2>&1 | grep metadata
done
"$CLI" quantize open.onnx -o q.onnx --data photos --held-out 1 --save-project p.vernier > all
grep -E '"(fit|fill)"' p.vernier
"$CLI" run open.onnx --data random -o out > all 2>&1 || cat all
rm -rf all p.vernier* out
