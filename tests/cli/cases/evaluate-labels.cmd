ls $DEMO/samples | grep -v circle >labels.txt
$CLI evaluate $DEMO/demo.onnx --data $DEMO/samples --preprocess minus-one-one --labels labels.txt
printf '' >empty.txt
$CLI evaluate $DEMO/demo.onnx --data $DEMO/samples --preprocess minus-one-one --labels empty.txt
$CLI evaluate --data $DEMO/samples
