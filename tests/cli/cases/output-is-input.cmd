# What would be written over the network itself is refused before any work, by whatever name it is called.
cp "$DEMO/demo.onnx" m.onnx; ln -s m.onnx link.onnx; mkdir sub
echo '{"model_parameters": {"onnx_model": "m.onnx", "output_prefix": "m"},
  "calibration_parameters": {"input_parametres": [{}]}}' > c.json
"$CLI" quantize m.onnx -o m.onnx --data random --samples 2
"$CLI" quantize m.onnx -o sub/../link.onnx --data random --samples 2
"$CLI" quantize link.onnx -o m.onnx --data random --samples 2
"$CLI" quantize m.onnx -o q.onnx --data random --samples 2 --save-recipe ./m.onnx
"$CLI" quantize m.onnx -o q.onnx --data random --samples 2 --save-stats m.onnx
"$CLI" prepare m.onnx -o m.onnx
"$CLI" calibrate m.onnx -o m.onnx --data random --samples 2
"$CLI" xquant -c c.json --data random --samples 2
cmp m.onnx "$DEMO/demo.onnx" && echo the network is as it was
rm -r m.onnx link.onnx sub c.json
