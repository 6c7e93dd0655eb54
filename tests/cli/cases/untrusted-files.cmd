# Python that a file names does not run unasked, and no file names the interpreter; modules beside where somebody stands are not
# read
printf '#!/bin/sh\ntouch ran-interpreter\nexec python3 "$@"\n' >interpreter.sh; chmod +x interpreter.sh
cat >prepare.py <<'P'
import array, json
open("ran", "w").close()
def load(paths, said):
    return memoryview(array.array("f", [len(paths[0])]) * (3 * 64 * 64)).cast("B").cast("f", [1, 3, 64, 64])
P
echo 'open("ran-module", "w").close(); raise SystemExit("not this")' | tee json.py numpy.py >onnxruntime.py
$CLI quantize $DEMO/demo.onnx -o /dev/null -d $DEMO/samples -n 2 --preprocess prepare.py:load --skip-compare \
  --save-project mine.vernier >/dev/null 2>&1
ls ran*; rm -f ran*
sed 's|"data" : {|"data" : { "python": "./interpreter.sh",|' mine.vernier >p.vernier
grep -c interpreter p.vernier
ls -d $DEMO/samples/*/* | head -2 >list.txt
echo '{ "model_parameters": { "onnx_model": "'$DEMO'/demo.onnx", "output_prefix": "q", "working_dir": "." },
  "calibration_parameters": { "calibration_step": 2,
  "input_parametres": [ { "input_name": "image", "input_shape": [1,3,64,64], "file_type": "img",
    "preprocess_file": "prepare.py:load", "data_list_path": "list.txt" } ] },
  "quantization_parameters": { "precision_level": 0 } }' >c.json
try() {
  echo "+ $*"; "$CLI" "$@" >out.txt 2>err.txt; echo "exit $?"
  grep -hE "Python|names" err.txt; ls ran* 2>/dev/null; rm -f ran*
}
try quantize p.vernier -o q.onnx --skip-compare
try calibrate p.vernier -o q.stats
try quantize p.vernier -o q.onnx --skip-compare --preprocess prepare.py:other
try quantize p.vernier -o q.onnx --skip-compare --trust
try quantize p.vernier -o q.onnx --skip-compare --preprocess prepare.py:load
try quantize p.vernier -o q.onnx --skip-compare --trust --python ./interpreter.sh
try calibrate p.vernier -o q.stats --trust
try quantize $DEMO/demo.onnx -o q.onnx --config c.json --skip-compare
try quantize $DEMO/demo.onnx -o q.onnx --config c.json --skip-compare --data $DEMO/samples
try quantize $DEMO/demo.onnx -o q.onnx --config c.json --skip-compare --trust
try xquant -c c.json
try runs p.vernier
try report p.vernier -o report.md
"$CLI" verify q.onnx >/dev/null 2>&1; ls ran* 2>/dev/null
rm -rf ./*
