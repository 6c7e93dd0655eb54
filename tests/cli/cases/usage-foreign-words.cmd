# words of other quantizers are taken for what they are here: what is said here makes the same file
q () {
  "$CLI" quantize "$DEMO/demo.onnx" -o "$1" --data "$DEMO/samples" --samples 4 --skip-compare "${@:2}" >/dev/null \
    2>said || cat said
}
static=(--preset vai_q_onnx.quantize_static)
same () {
  cmp here.onnx there.onnx && echo "same: $1"
}
q here.onnx --equalize amd --equalize-steps 1 --preset npu-transformer --activation u8 --symmetric-activations \
  --method minmse --weight-method minmse --power-of-two nearest --narrow-range --npu --simulate-npu \
  --clip6-to-relu --passes nhwc-inputs
q there.onnx "${static[@]}" --quant_format QuantFormat.QDQ --calibrate_method PowerOfTwoMethod.MinMSE --enable_dpu=True \
  --activation_type QuantType.QUInt8 --weight_type=QInt8 --include_cle True --convert-nchw-to-nhwc --RemoveInputInit \
  --extra_options '{"ActivationSymmetric": true, "ReplaceClip6Relu": true, "CLESteps": 1, "BiasCorrection": null}'
same "IPU CNN"
q here.onnx --preset a16w8 --per-tensor --activation s16 --symmetric --align-eltwise --exclude a --exclude b
q there.onnx -p A16W8 --per_channel False --nodes_to_exclude '["a", "b"]'
same A16W8
q here.onnx -m percentile --percentile 99.9 --reduce-range
q there.onnx -m CalibrationMethod.Percentile --extra_options '{"CalibPercentile": 99.9}' --reduce_range
same Percentile
q here.onnx --format extended --weight s16
q there.onnx --format VitisQuantFormat.QDQ --weight VitisQuantType.QInt16
same VitisQuantFormat
input=$("$CLI" inspect "$DEMO/demo.onnx" --json | grep -o '"name" : "[^"]*"' | head -n 1 | cut -d'"' -f4)
q here.onnx --rule "{\"tensors\": [\"$input\"], \"activation\": \"u16\", \"weight\": \"u16\", \"symmetric\": \"true\",
  \"min\": [-2], \"max\": [3], \"convert\": \"u8\"}"
q there.onnx --TensorQuantOverrides "{\"$input\": [{\"quant_type\": \"QuantType.QUInt16\", \"symmetric\": true, \"rmin\": -2,
  \"rmax\": 3, \"convert\": {\"quant_type\": \"QUInt8\"}}]}"
same TensorQuantOverrides
"$CLI" quantize --preset dynamic "$DEMO/demo.onnx" -o here.onnx >/dev/null 2>&1
"$CLI" quantize_dynamic "$DEMO/demo.onnx" -o there.onnx --use_external_data_format False >/dev/null 2>&1
same quantize_dynamic
"$CLI" prepare "$DEMO/demo.onnx" -o here.onnx --skip-optimization --int-max 7 >/dev/null 2>&1
"$CLI" quant_pre_process "$DEMO/demo.onnx" -o there.onnx --skip_optimization True --auto_merge False --int_max 7 >/dev/null 2>&1
same quant_pre_process
rm -f here.onnx there.onnx said
# what cannot be had, or is not known, is told
for arguments in "--prest cpu" "--tensors" "--extra_options {\"Frob\":1}" "--extra_options 7" \
  "--extra_options {\"TensorQuantOverrides\":{\"x\":[{\"axes\":1}]}}" "--model_input m.onnx" \
  "--RandomDataReaderInputDataRange [0,1]" "--preset IPU" "--method Frob" "--enable_dpu=perhaps"; do
  "$CLI" quantize "$DEMO/demo.onnx" -o out.onnx --data random $arguments
done
echo '{"vernier-recipe": 1, "include_cle": true}' >recipe.json
"$CLI" quantize "$DEMO/demo.onnx" -o out.onnx --data random --recipe recipe.json
# what is done in any case is told to whoever does not want it
"$CLI" quantize "$DEMO/demo.onnx" -o out.onnx --data random --RemoveInputInit=False --prest cpu
