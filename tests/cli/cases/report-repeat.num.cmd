# the command in a report makes the same bytes again, from Markdown and from JSON
ln -s "$DEMO/demo.onnx" net.onnx
ln -s "$DEMO/samples" samples
again () {
  mkdir -p once twice
  "$CLI" quantize net.onnx -o once/net.q.onnx --report once/report "$@" >once/log 2>&1 || { cat once/log; return; }
  sed -n '/^```sh$/,/^```$/p' once/report/report.md | sed '1d;$d' | sed 's/^vernier-cli/"$CLI"/' >from-markdown
  python3 -c 'import json
print(json.load (open ("once/report/report.json"))["settings"]["command"].replace ("vernier-cli", "\"$CLI\"", 1))' >from-json
  cmp from-markdown from-json || return
  sed 's/^"$CLI" quantize net.onnx -o //' from-markdown
  (cd twice && ln -sf ../net.onnx ../samples . && . ../from-json >log 2>&1 || cat log)
  cmp once/net.q.onnx twice/net.q.onnx && echo "the same bytes"
  rm -r once twice from-markdown from-json
}
again --data samples --preprocess minus-one-one --samples 5 --held-out 2 --per-channel --method percentile --percentile 99.9
again --data samples --preprocess imagenet --samples 4 --mean 1,2,3 --held-out 2 --color bgr --exclude 'type:Softmax' \
  --preset qlinear
again --data random --samples 6 --seed 7 --held-out 2 --calibration-samples 2 --skip-compare --preset a16w8 --op-types Conv \
  --op-types Relu --rule '{"nodes": "type:Conv", "weight": "int16"}' --quantize-bias=false
again --data random --samples 6 --held-out 0 --preset xquant --op-types= --op-types Conv --channel-types=
again --preset w8 --opset 17
again --data samples --preprocess minus-one-one --samples 2 --held-out 1 --curve --curve-cost size
again --data samples --preprocess minus-one-one --samples 8 --budget-float 10%
rm net.onnx samples
