# An export is run in the runtime of its target, or in the one that is named; what is missing is told with what to install.
unset VN_NO_VERIFY VN_PYTHON
cat >refuses <<'END'
#!/bin/sh
grep -qa "import ${MODULE:-openvino}" /proc/$$/cmdline && stage=${STAGE:-load} || stage=import
printf '{ "stage" : "%s", "error" : "no kernel for it" }' $stage >"$5/reply.json"
END
chmod +x refuses
data="$DEMO/demo.onnx --data $DEMO/samples --preprocess minus-one-one"
"$CLI" quantize $data --target openvino-cpu -o q.onnx --skip-compare --no-verify >/dev/null 2>&1
VN_OPENVINO_PYTHON=./refuses "$CLI" verify q.onnx
STAGE=import VN_OPENVINO_PYTHON=./refuses "$CLI" verify q.onnx --runtime openvino
"$CLI" verify q.onnx --runtime qnn --python ./refuses
MODULE=onnxruntime "$CLI" verify q.onnx --python ./refuses
"$CLI" verify q.onnx --runtime nothing
VN_OPENVINO_PYTHON=./refuses "$CLI" quantize $data --target openvino-cpu -o q.onnx | grep -E "Refused|no kernel" |
  sed -e 's/it\. .*/it/'
STAGE=import VN_OPENVINO_PYTHON=./refuses "$CLI" quantize $data --target openvino-cpu -o q.onnx --verify 2>&1 |
  grep -E "could not|has no"
"$CLI" list targets --json | grep '"runtime"' | sort | uniq -c | tr -s ' '
rm q.onnx refuses
