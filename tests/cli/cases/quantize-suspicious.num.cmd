# What is suspected of the samples comes before the verdict, with its remedy, in the text and in both reports.
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --report report | sed -n 2,6p
grep -n -E "Suspicious|\*\*Check" report/report.md | cut -c1-40
grep -E '"(level|verdict)" : "(s|C)' report/report.json
"$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data random -n 12 | sed -n 3,6p
