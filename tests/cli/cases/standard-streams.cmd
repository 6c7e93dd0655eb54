# "-" in place of files: the same bytes, whichever way they come.
send='import struct, sys
names = sys.argv[2:]
out = sys.stdout.buffer
if names:
    packed = b"".join(n.encode() + b"\0" for n in names)
    out.write(struct.pack("<4sc3BQ", b"VNS1", b"N", 0, 0, 0, len(packed)) + packed)
for i in range(int(sys.argv[1])):
    values = [((k * (7 + i)) % 255) / 127.5 - 1 for k in range(3 * 64 * 64)]
    out.write(struct.pack("<4sc3BQ4q", b"VNS1", b"T", 1, 4, 0, 4 * len(values), 1, 3, 64, 64))
    out.write(struct.pack("<%df" % len(values), *values))
'
quiet='--no-verify'
mkdir d
python3 -c "$send" 4 >d/samples
python3 -c "$send" 4 image >d/named
"$CLI" quantize $DEMO/demo.onnx -o d/a.onnx --data d/samples $quiet >/dev/null
"$CLI" quantize $DEMO/demo.onnx -o d/b.onnx --data - $quiet <d/samples >/dev/null
cat d/named | "$CLI" quantize $DEMO/demo.onnx -o d/c.onnx --data - $quiet >/dev/null
"$CLI" quantize - -o d/d.onnx --data d/samples $quiet <$DEMO/demo.onnx >/dev/null
"$CLI" quantize $DEMO/demo.onnx -o - --data d/samples $quiet >d/e.onnx 2>/dev/null
cat $DEMO/demo.onnx | "$CLI" quantize - -o - --data d/samples $quiet 2>/dev/null | cat >d/f.onnx
for k in b c d e f; do cmp d/a.onnx d/$k.onnx && echo "same $k"; done
"$CLI" prepare - -o - <$DEMO/demo.onnx 2>/dev/null | "$CLI" inspect - | sed -n 2,4p
"$CLI" calibrate $DEMO/demo.onnx --data - -o d/s.stats <d/samples
# samples are in the command that repeats the run as they were given
"$CLI" quantize $DEMO/demo.onnx -o d/g.onnx --data - $quiet --json <d/samples | grep -o 'data - '
# what cannot be: nothing is written, to the standard output neither
"$CLI" quantize - -o x.onnx --data - <d/samples
"$CLI" quantize $DEMO/demo.onnx -o x.onnx --data - </dev/null
echo no samples | "$CLI" quantize $DEMO/demo.onnx -o x.onnx --data -
head -c 60000 d/samples | "$CLI" quantize $DEMO/demo.onnx -o x.onnx --data - 2>&1 | sed 's/“[^”]*”/FILE/'
"$CLI" quantize $DEMO/demo.onnx -o - --data d/samples --json
"$CLI" quantize $DEMO/demo.onnx -o - --data d/samples --save-as-external-data $quiet 2>&1 | tail -1
"$CLI" quantize - -o x.onnx --data d/samples --save-project p.vernier <$DEMO/demo.onnx
"$CLI" quantize $DEMO/demo.onnx -o x.onnx --data - --export-script p.py <d/samples
# a project is about the model; samples without a name are left out
"$CLI" quantize $DEMO/demo.onnx -o d/x.onnx --data - --save-project d/p.vernier $quiet <d/samples >/dev/null
grep -c '"model"' d/p.vernier; grep -c standard-input d/p.vernier
"$CLI" quantize no-such.onnx -o - --data d/samples | wc -c
"$CLI" quantize $DEMO/demo.onnx -o - --data d/samples $quiet 2>&1 >/dev/full | tail -1
ls
rm -r d
