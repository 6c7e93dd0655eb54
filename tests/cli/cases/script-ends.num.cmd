# What happened is told to the end, also of samples that are not tried any more.
cat >prepare.py <<'P'
import os, time
def sleeps(paths, d): time.sleep(1000)
def deep(paths, d): return memoryview(bytes(1)).cast("b", (1,) * 12)
def dies(paths, d): os.abort()
P
for function in sleeps deep dies; do
  "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx -d "$DEMO/samples" -n 8 -t 1 --preprocess prepare.py:$function \
    --preprocess-timeout 1 2>&1 | grep -v "^warning"
done
rm -r prepare.py
