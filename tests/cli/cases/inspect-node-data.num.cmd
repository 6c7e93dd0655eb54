# numbers of other programs beside the nodes; errors of nodes as Model Explorer's node data, read again; what is wrong, with its
# line or field
printf 'name;seconds\n/stem/Conv;1,5\nscores;-2\n"no;body";3\n/head/Conv;nan\n' >a.csv
"$CLI" inspect "$DEMO/demo.onnx" --node-data a.csv | sed -n '/^Values/,$p'
printf '[{"cat": "Session", "ph": "X", "name": "model_run", "dur": 99},
{"cat": "Node", "ph": "X", "name": "/stem/act/Clip_output_0_nchwc_kernel_time", "dur": 30},
{"cat": "Node", "ph": "X", "name": "ReorderOutput_kernel_time", "dur": 5}]' >profile.json
"$CLI" inspect "$DEMO/demo.onnx" --node-data profile.json | sed -n '/^Values/,$p'
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --samples 8 --save-project p.vernier >log 2>&1 || cat log
"$CLI" report p.vernier --format node-data -o errors && ls errors
"$CLI" inspect "$DEMO/demo.onnx" --node-data errors/sqnr.json | sed -n '/^Values/,/Conv/p;$p'
"$CLI" report p.vernier --format node-data
printf 'a,1\nb,2,3\n' >bad.csv
"$CLI" inspect "$DEMO/demo.onnx" --node-data bad.csv >log
printf '{"graph": {"results": {"conv": {"value": [1]}, "act": {}}}}' >bad.json
"$CLI" inspect "$DEMO/demo.onnx" --node-data bad.json >log
"$CLI" inspect "$DEMO/demo.onnx" --node-data none.csv >log
rm -r a.csv profile.json q.onnx p.vernier* errors bad.csv bad.json log
