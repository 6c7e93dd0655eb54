for option in --op-types=Nonsense --only-nodes=nonsense; do
  "$CLI" quantize "$DEMO/demo.onnx" -o a.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 12 --held-out 0 \
    --skip-compare $option
  echo "exit $?"
done
