"$MAKE_OPEN" words words.onnx; "$MAKE_OPEN" pictures open.onnx
sizes () { "$CLI" run "$@" --json | tr -d ' \n' | grep -o -E '"shape":"[^"]*"|"message":"[^"]*"|"text":"[^"]*"'; echo; }
sizes words.onnx --dim batch=2 --dim length=5
sizes words.onnx --shape words=3x?x4
sizes words.onnx --shape words=?,6,4 --dim batch=2
sizes open.onnx --dim H=10 --dim W=12
sizes open.onnx --shape image=1x3x8x?
"$MAKE_OPEN" sample 2x7x4 words.npy; sizes words.onnx --input words=words.npy
