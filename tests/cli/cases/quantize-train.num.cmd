# a block is kept where held-out samples show a smaller error; formats without stored ranges have nothing to train
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples=8 --weight=int4 \
  --train=adaquant --train-steps=10 --report report >out.txt 2>&1
grep -h "Training: kept" report/report.md
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --preset dynamic --train=adaround
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --samples 4 --held-out 0 --skip-compare --train-steps=30 \
  --train-seed=3 2>&1 | grep -E "^warning: train"
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random --samples 4 --held-out 0 --skip-compare --train=adaquant \
  --train-steps=5 --train-regularization=1 2>&1 | grep -E "^warning: train"
rm -r report q.onnx out.txt
