plain () { sed -E 's/[0-9]{8}-[0-9]{6}-[0-9a-f]{6}/ID/g; s/"(recipe|inputs)-digest" : "[0-9a-f]*"/"\1-digest" : "…"/'; }
run () { "$CLI" quantize "$@" | tail -1; }
cp "$DEMO/demo.onnx" . && cp -r "$DEMO/samples" samples
run demo.onnx -o a.onnx --data samples --preprocess minus-one-one --samples 8 --save-project p.vernier 2>/dev/null
run p.vernier -o b.onnx --per-channel --exclude type:Gemm --skip-compare 2>/dev/null
run demo.onnx -o a.onnx --preset w8 --save-project p.vernier
"$CLI" runs p.vernier | plain
"$CLI" runs p.vernier --json | plain
first=$("$CLI" runs p.vernier --json | sed -n 's/.*"id" : "\(.*\)",/\1/p' | head -1)
mkdir moved && mv p.vernier p.vernier-runs demo.onnx moved/ && cp moved/p.vernier moved/q.vernier
echo "-- removed from a copy, then where it belongs, its file damaged"
"$CLI" runs moved/q.vernier --remove "$first" | sed 2q | plain
ls moved/p.vernier-runs | wc -l
echo '{"vernier-result": 2}' >"moved/p.vernier-runs/$first.json"
"$CLI" runs moved/p.vernier 2>&1 | sed 2q | plain
"$CLI" runs moved/p.vernier --remove "$first" | sed 2q | plain
ls moved/p.vernier-runs | wc -l
"$CLI" runs moved/p.vernier --remove x
rm -r moved a.onnx b.onnx samples
