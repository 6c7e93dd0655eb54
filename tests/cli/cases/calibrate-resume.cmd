# However a run ends, what it had learned is kept, and going on gives the same bytes.
data="--data random --samples 1000"
soon="--save-every 0.02"    # of the runs that are ended
# A process that is killed while it writes leaves a file with a name of its own as well.
there () { for file in stats stats.part; do [ ! -e $file ] || echo $file; done; }
wait_for () { while [ ! -e "$1" ] && kill -0 $! 2>/dev/null; do sleep 0.02; done; }
"$CLI" calibrate "$DEMO/demo.onnx" $data -o whole
for signal in INT TERM KILL; do
  "$CLI" calibrate "$DEMO/demo.onnx" $data $soon -o stats 2> messages & wait_for stats.part; kill -$signal $!
  wait $! 2> /dev/null
  sed -E 's/[0-9]+ (samples|are)/N \1/g' messages; there
  "$CLI" calibrate "$DEMO/demo.onnx" $data --resume -o stats; there
  cmp whole stats && echo same; rm stats
done
"$CLI" quantize "$DEMO/demo.onnx" $data $soon --save-stats stats -o q.onnx 2> messages & wait_for stats.part; kill -INT $!
wait $!
sed -E 's/[0-9]+ (samples|are)/N \1/g' messages
[ -e q.onnx ] || echo no q.onnx
"$CLI" calibrate "$DEMO/demo.onnx" $data --mean 3 --resume -o stats
"$CLI" calibrate "$DEMO/demo.onnx" --data random --samples 1 --resume -o stats 2>&1 | sed -E 's/(had|only) [0-9]+/\1 N/g'
"$CLI" quantize "$DEMO/demo.onnx" $data --save-stats stats --resume -o q.onnx --skip-compare | sed -n 2p
cmp whole stats && echo same
"$CLI" quantize "$DEMO/demo.onnx" --stats whole -o q2.onnx > /dev/null; cmp q.onnx q2.onnx && echo same
head -c 3000 whole > stats.part; "$CLI" calibrate "$DEMO/demo.onnx" $data --resume -o stats
"$CLI" calibrate "$DEMO/demo.onnx" --data random --samples 3 --held-out 0 -o stats
rm stats* whole *.onnx messages
