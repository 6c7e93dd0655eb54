# a library that cannot be loaded: what each repair can do without it
mkdir broken
echo "no library" >broken/libopenblas.so.0
for setting in --rounding=second-order --train=adaquant --range-search=outputs; do
  LD_LIBRARY_PATH="$PWD/broken" "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" \
    --preprocess minus-one-one $setting 2>&1 | grep -h OpenBLAS | sed "s|$PWD/||"
done
rm -r broken
