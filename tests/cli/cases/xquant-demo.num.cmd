find "$DEMO/samples" -name '*.png' | sort | head -20 >list.txt
cat >c.json <<END
{"model_parameters": {"onnx_model": "$DEMO/demo.onnx", "output_prefix": "small", "working_dir": "./out"},
 "calibration_parameters": {"calibration_step": 20, "calibration_type": "minmax", "input_parametres": [
   {"mean_value": [127.5, 127.5, 127.5], "std_value": [127.5, 127.5, 127.5], "color_format": "rgb",
    "data_list_path": "list.txt"}]},
 "quantization_parameters": {"finetune_level": 2, "precision_level": 2, "colour": "red"}}
END
"$CLI" xquant -c c.json
