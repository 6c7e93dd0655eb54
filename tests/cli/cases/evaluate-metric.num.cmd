# A metric of the user's, in all the ways it can go right and wrong. Arrays without numpy: a stand-in is found first.
cat >numpy.py <<'P'
import array
class ndarray:
    def __init__(self, shape, dtype, data):
        assert dtype == 'float32'
        self.shape, self.values = tuple(shape), array.array('f', bytes(data))
P
cat >metrics.py <<'P'
import os, time
def hit(sample, outputs):
    values = outputs['scores'].values
    best = max(range(len(values)), key=lambda i: values[i])
    return {'hit': best == sample['label'], 'odd': 1 if sample['index'] % 2 else None}
def raises(sample, outputs): return outputs['boxes']
def nan(sample, outputs): return {'overlap': float('nan')}
def text(sample, outputs): return 'good'
def nothing(sample, outputs): return None
def names(sample, outputs): return {7: 1.0}
def told(sample, outputs): raise ValueError(sorted((k, v) for k, v in sample.items() if k != 'path'))
def leaves(sample, outputs): os._exit(3)
def dies(sample, outputs): os.abort()
def sleeps(sample, outputs): time.sleep(1000)
P
cat >whole.py <<'P'
def collect(sample, outputs): return [sample['class'], outputs['scores'].shape]
def finish(results): return {'classes': len({name for name, shape in results}), 'samples': len(results)}
P
cat >broken.py <<'P'
def collect(sample, outputs): return 0.5
def finish(results): return results
P
$CLI quantize $DEMO/demo.onnx -o q.onnx --data $DEMO/samples --preprocess minus-one-one --skip-compare >/dev/null
run() { $CLI evaluate $DEMO/demo.onnx q.onnx --data $DEMO/samples --preprocess minus-one-one -n 16 -t 2 "$@" 2>&1; }
run --metric metrics.py:hit --report table.md
cat table.md
run --metric whole.py:collect --json | grep -A 3 '"metrics"'
for function in raises nan text nothing names told leaves dies missing; do
  echo "== $function"
  run --metric metrics.py:$function
done
run --metric broken.py:collect
run --metric metrics.py:sleeps --metric-timeout 5
run --metric metrics.py
run --metric nowhere.py:hit
run --metric metrics.py:hit --python no-such-python
run --metric-timeout 3
run --python python3
rm metrics.py whole.py broken.py numpy.py
