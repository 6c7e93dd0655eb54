# Every sample is the same picture of ones, made without numpy; the option of another tool's name does the same as ours.
cat >prepare.py <<'P'
import array
def load(path_list, input_parametr):
    shape = input_parametr["input_shape"]
    count = shape[0] * shape[1] * shape[2] * shape[3]
    return memoryview(array.array("f", [1.0]) * count).cast("B").cast("f", shape)
P
$CLI quantize $DEMO/demo.onnx -o q.onnx -d $DEMO/samples -n 3 --preprocess prepare.py:load --json >/dev/null
$CLI run $DEMO/demo.onnx -d $DEMO/samples -n 1 --preprocess prepare.py:load
$CLI run $DEMO/demo.onnx -d $DEMO/samples -n 1 --preprocess preprocess_method1
