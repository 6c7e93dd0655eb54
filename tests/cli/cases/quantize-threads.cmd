for method in minmax percentile entropy kl mse; do
  for threads in 1 2 4; do
    "$CLI" quantize "$DEMO/demo.onnx" -o $threads.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 11 \
      --held-out 3 --per-channel --method $method --threads $threads --report $threads >$threads.txt || exit
  done
  for threads in 2 4; do
    cmp 1.onnx $threads.onnx && cmp 1/report.json $threads/report.json && echo "$method: $threads threads, the same"
  done
done
rm -r [124] [124].onnx [124].txt
