cat >prepare.py <<'P'
def load(path_list, input_parametr):
    print("printed by the user")
    return path_list[7]
P
$CLI quantize $DEMO/demo.onnx -o q.onnx -d $DEMO/samples -n 1 --preprocess prepare.py:load
$CLI quantize $DEMO/demo.onnx -o q.onnx -d $DEMO/samples -n 1 --preprocess prepare.py:store
$CLI quantize $DEMO/demo.onnx -o q.onnx -d $DEMO/samples -n 1 --preprocess other.py:load
$CLI quantize $DEMO/demo.onnx -o q.onnx -d $DEMO/samples -n 1 --preprocess prepare.py:load --python no-such-python
$CLI quantize $DEMO/demo.onnx -o q.onnx -d $DEMO/samples -n 1 --python python3 --no-verify
$CLI quantize $DEMO/demo.onnx -o q.onnx -d $DEMO/samples -n 1 --raw-type int5
