# A network that is written into while it is read: nothing is made of it, and what was there before stays.
data="--data random --samples 3000 --save-every 0.02"
wait_for () { while [ ! -e "$1" ] && kill -0 $! 2>/dev/null; do sleep 0.02; done; }
shorten () { truncate -s 100000 m.onnx; }
empty () { truncate -s 0 m.onnx; }
write () { printf xxxx | dd of=m.onnx bs=1 seek=200000 conv=notrunc status=none; }
for change in shorten empty write; do
  cp "$DEMO/demo.onnx" m.onnx
  "$CLI" calibrate m.onnx $data -o stats 2> messages & wait_for stats.part
  $change; wait $!; echo "exit $?"; cat messages
  [ -e stats ] || echo no statistics
  rm -f stats.part
done
# Only touched: the same network.
cp "$DEMO/demo.onnx" m.onnx
"$CLI" calibrate m.onnx --data random --samples 500 --save-every 0.02 -o stats > /dev/null 2>&1 & wait_for stats.part
touch m.onnx; wait $!; echo "exit $?"
rm m.onnx stats messages
