# the report of a kept run is the one that was written with it, in all forms; where that was given whole paths; and what cannot be
# done
ln -s "$DEMO/demo.onnx" demo.onnx
ln -s "$DEMO/samples" samples
again () {
  rm -rf p.vernier p.vernier-runs once twice
  "$CLI" quantize "$PWD/demo.onnx" -o a.onnx --data "$PWD/samples" --preprocess minus-one-one --samples 8 \
    --save-project p.vernier --report once "$@" >log 2>&1 || cat log
  "$CLI" report p.vernier -o twice
  for file in once/*; do
    cmp "$file" "twice/${file#once/}" && echo "the same: ${file#once/}"
  done
}
again --origins
again --preset npu-cnn --cures --time 2
again --preset w8
"$CLI" report p.vernier | sed 6q
"$CLI" report p.vernier --format html | sed 3q
"$CLI" report p.vernier -o one.pdf && head -c 5 one.pdf && echo && ls one.pdf
"$CLI" quantize demo.onnx -o a.onnx --preset w8 --report two.html >log 2>&1 && ls two.html
"$CLI" report p.vernier --format pdf
"$CLI" report p.vernier --format doc
"$CLI" report p.vernier --run x
"$CLI" report p.vernier -o p.vernier --format html
"$CLI" report demo.onnx
"$CLI" runs p.vernier --remove "$("$CLI" runs p.vernier --json | sed -n 's/.*"id" : "\(.*\)",/\1/p')" |
  sed 's/^[0-9a-f-]*:/ID:/;2,$d'
"$CLI" report p.vernier
rm -r p.vernier once twice a.onnx one.pdf two.html log demo.onnx samples
