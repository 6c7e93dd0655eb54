# What cannot be written is an error with its reason, and leaves nothing behind: neither a part nor what was to go beside it.
(ulimit -f 20; "$CLI" quantize "$DEMO/demo.onnx" -o large.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 8 \
  --held-out 0 --skip-compare)
echo "exit $?"
(ulimit -f 20; "$CLI" quantize "$DEMO/demo.onnx" -o large.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 8 \
  --held-out 0 --skip-compare --save-as-external-data --all-tensors-to-one-file 2>&1) | sed -E 's/new-[0-9a-f]{8}/new-X/'
echo "exit ${PIPESTATUS[0]}"
# A report below a file, noticed before the work: there is no report and no model.
echo text > file
"$CLI" quantize "$DEMO/demo.onnx" -o small.onnx --data "$DEMO/samples" --preprocess minus-one-one --samples 8 --report file/folder
echo "exit $?"
rm file
