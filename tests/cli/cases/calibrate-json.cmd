"$CLI" calibrate "$DEMO/demo.onnx" --data "$DEMO/samples" --preprocess minus-one-one --samples 3 -o stats --json
cp "$DEMO"/samples/star/star-1.png good.png; echo no picture > bad.png; mkdir data; mv *.png data
"$CLI" calibrate "$DEMO/demo.onnx" --data data -o stats --json
