"$MAKE_OPEN" words words.onnx; "$MAKE_OPEN" pictures open.onnx; mkdir words photos
for length in 6 3; do "$MAKE_OPEN" sample 1x${length}x4 words/$length.npy; done
printf 'P6 70 75 255\n' > photos/1.ppm; head -c $((3 * 70 * 75)) "$DEMO/demo.onnx" >> photos/1.ppm
run () { "$CLI" run "$@" --json | tr -d ' \n' | grep -o -E '"shape":"[^"]*"|"message":"[^"]*"|"text":"[^"]*"'; echo; }
run words.onnx --data words
run words.onnx --data words --dim batch=1
run words.onnx --data words --dim length=3
run words.onnx --data random
run open.onnx --data photos
run open.onnx --data photos --dim H=40
"$MAKE_OPEN" sample 2x7x4 words.npy; run words.onnx --data words --input words=words.npy
"$CLI" benchmark words.onnx --data words --repeat 1 --threads 1 --json | grep -E '"(inputs|outputs)"' | sort -u
"$CLI" benchmark open.onnx --data photos --repeat 1 --threads 1 --json | grep -E '"(inputs|outputs)"' | head -2
