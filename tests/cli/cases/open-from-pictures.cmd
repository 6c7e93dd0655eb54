"$MAKE_OPEN" pictures open.onnx; mkdir photos
picture () { printf 'P6 %d %d 255\n' $2 $3; head -c $((3 * $2 * $3)) "$DEMO/demo.onnx"; }
picture 1 70 75 > photos/1.ppm
picture 2 40 90 > photos/2.ppm
for size in 70x75 70x74; do
  picture 1 ${size%x*} ${size#*x} > photos/1.ppm
  "$CLI" quantize open.onnx -o q.onnx --data photos --held-out 1 --json > all || cat all
  grep -A 3 -E 'size-(from|rounded)' all
done
rm all
