mkdir photos; for i in 1 2 3; do echo junk > photos/$i.png; done; "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data photos
