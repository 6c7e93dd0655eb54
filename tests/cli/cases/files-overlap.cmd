# Nothing that a command reads is replaced, and no two results go into one file: refused before any work, whatever it is called.
cp "$DEMO/demo.onnx" plain.onnx
"$CLI" prepare plain.onnx -o m.onnx --save-as-external-data --all-tensors-to-one-file --external-data-size-threshold 0 >/dev/null
mkdir s rep; cp "$DEMO"/samples/arrow/arrow-[01].png s; ls s/*.png >list.txt
echo 'def load(paths, d): return None' >prepare.py
echo '{"preset": "cpu"}' >r.json
"$CLI" quantize plain.onnx -o q0.onnx --data s --save-recipe r.json --save-project p.vernier --save-stats st.stats >/dev/null 2>&1
"$CLI" calibrate plain.onnx --table t.json --data s >/dev/null 2>&1
mkdir in; "$MAKE_OPEN" sample 1x3x64x64 in/scores.npy
ln -s m.onnx.data link; ln m.onnx.data hard
sha256sum $(find . -type f | sort) >../before
try () { "$CLI" "$@" >/dev/null; echo "$?: $*"; }
q="quantize m.onnx --data s"
try $q -o m.onnx.data
try $q -o link
try $q -o hard
try $q -o new.onnx --save-as-external-data --all-tensors-to-one-file --external-data-location m.onnx.data
try $q -o new.onnx --save-as-external-data --all-tensors-to-one-file --external-data-location m.onnx
try $q -o e.onnx --save-recipe e.onnx
try $q -o e.onnx --save-recipe ./s/../e.onnx
try $q -o e.onnx --save-stats e.onnx
try $q -o e.vernier --save-project e.vernier
try $q -o e.onnx --save-recipe e.json --export-xquant e.json
try $q -o rep/report.json --report rep
try $q -o e.onnx --save-stats e --save-recipe e.part
try $q -o s/arrow-0.png
try quantize m.onnx --data list.txt -o list.txt
try quantize m.onnx --data list.txt -o e.onnx --save-recipe s/arrow-1.png
try $q --preprocess prepare.py:load -o e.onnx --export-script prepare.py
cp r.json r.vernier
try $q --recipe r.vernier -o e.onnx --save-project r.vernier
rm r.vernier
try quantize p.vernier -o p.vernier
try quantize plain.onnx --stats st.stats -o st.stats
try quantize plain.onnx --ranges t.json --data s -o t.json
try prepare m.onnx -o m.onnx.data
try calibrate m.onnx --data s -o m.onnx.data
try calibrate m.onnx --data s -o c --table c
try compare m.onnx q0.onnx --data s --report q0.onnx
try evaluate m.onnx q0.onnx --data s --report m.onnx.data
try evaluate m.onnx --data s --labels list.txt --report list.txt
try run plain.onnx -i image=in/scores.npy -o in
sha256sum --quiet -c ../before && echo "all files are as they were"
find . -type f | sort >after; awk '{ print $2 }' ../before | sort | cmp - <(grep -v '^./after$' after) && echo "nothing new"
rm -rf ./* ../before
