for arguments in --include-cle "--enable-dpu" "--calibrate_method MinMSE" "--remove-input-init" "--per_channel" "--prest cpu" \
  "--tensors" \
  "--preset IPU_CNN" "--method CalibrationMethod.MinMax" "--format VitisQuantFormat.QDQ" "--weight QuantType.QInt8"; do
  "$CLI" quantize "$DEMO/demo.onnx" -o out.onnx --data random $arguments
done
"$CLI" quantize_dynamic
echo '{"vernier-recipe": 1, "include_cle": true}' >recipe.json
"$CLI" quantize "$DEMO/demo.onnx" -o out.onnx --data random --recipe recipe.json
