run () { echo "$1" >c.json; "$CLI" xquant -c c.json -i "$DEMO/demo.onnx"; echo "exit $?"; }
run '{"calibration_parameters": {"input_parametres": []}}'
run '{"calibration_parameters": {"calibration_type": "entropy"}}'
run '{"calibration_parameters": {"input_parametres": [{"file_type": "bin"}]}}'
run '{"calibration_parameters": {"input_parametres": [{"data_list_path": "nothing.txt"}]}}'
run '{"calibration_parameters": {"input_parametres": [{}]}, "quantization_parameters": {"truncate_var_names": ["x"]}}'
run '{"quantization_parameters": {"truncate_var_names": ["a"] "Truncate the model"}}'
run '{"quantization_points": {}}'
run '{"overall_quantize_config": {"datatype": "int", "bit_width": 8}}'
rm c.json
"$CLI" xquant
