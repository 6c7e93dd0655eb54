data="--data $DEMO/samples --preprocess minus-one-one --samples=6 --held-out=2"
q() { "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx $data --per-channel "$@"; }
q --budget-float=10% --save-recipe r.json | grep -E "Mixed|chosen"; grep '"exclude"' r.json
q --recipe r.json --skip-compare | head -1
q --target-sqnr=60 --budget-float=20%; q --budget-size=1XB; q --budget-float=110; q --curve-cost=money; q --curve --cures
