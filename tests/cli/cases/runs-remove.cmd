# All that --remove names are removed, or none; a report as JSON is nothing but JSON.
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --preset w8 --save-project p.vernier >/dev/null 2>&1
id=$("$CLI" runs p.vernier --json | sed -n 's/.*"id" : "\(.*\)",*/\1/p' | head -n 1)
"$CLI" runs p.vernier --remove "$id" --remove nix >/dev/null; echo "exit $?"
"$CLI" runs p.vernier --remove "$id" --remove "$id" 2>&1 >/dev/null | sed "s/$id/ID/"; echo "exit $?"
ls p.vernier-runs | wc -l
"$CLI" report p.vernier --json | sed -n '1p;$p'
"$CLI" runs p.vernier --remove "$id" >/dev/null; echo "exit $?"
rm -r q.onnx p.vernier*
