#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""large.py CLI: a network of 2.3 GB, of which one matrix is quantized and the rest stays float.

The result takes more than the 2 GB that an ONNX file can have, so weights go to a file beside it, unasked. onnx reads both,
the numbers that were set are where they were, and onnxruntime runs it as the original. Needs 5 GB of disk for a minute, and is
skipped where there are less than 12.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

ROWS, COLUMNS = 24000, 24000
LIMIT = 2 ** 31


def make_model(folder):
    """x [1, 24000] times a matrix that is nearly all 0, of 2.3 GB, then a small one. Holes take no disk."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    path, weights = os.path.join(folder, 'large.onnx'), os.path.join(folder, 'large.weights')
    data = np.memmap(weights, np.float32, 'w+', shape=(ROWS, COLUMNS))
    data[0, 0], data[ROWS - 1, 7], data[5, 6] = 1.5, -2.25, 3
    data.flush()
    big = TensorProto(name='big', data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS], data_location=TensorProto.EXTERNAL)
    for key, value in (('location', 'large.weights'), ('offset', '0'), ('length', str(ROWS * COLUMNS * 4))):
        entry = big.external_data.add()
        entry.key, entry.value = key, value
    small = np.random.default_rng(0).normal(size=(COLUMNS, 4)).astype(np.float32)
    nodes = [helper.make_node('MatMul', ['x', 'big'], ['h'], 'first'),
             helper.make_node('MatMul', ['h', 'small'], ['y'], 'second')]
    graph = helper.make_graph(nodes, 'large', [helper.make_tensor_value_info('x', 1, [1, ROWS])],
                              [helper.make_tensor_value_info('y', 1, [1, 4])], [big, numpy_helper.from_array(small, 'small')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)
    return path


def run(path, x):
    return oracle.open_session(path).run(None, {'x': x})[0]


def main():
    oracle.use_oracle_python()
    import numpy as np
    import onnx

    cli = sys.argv[1]
    if shutil.disk_usage(tempfile.gettempdir()).free < 12 << 30:
        oracle.skip('less than 12 GB of disk')
    with tempfile.TemporaryDirectory() as folder:
        path, out = make_model(folder), os.path.join(folder, 'out', 'q.onnx')
        os.mkdir(os.path.dirname(out))
        done = subprocess.run([cli, 'quantize', path, '-o', out, '--preset', 'w8', '--only-nodes', 'second'],
                              capture_output=True, text=True)
        print(done.stdout.strip() or done.stderr.strip())
        files = sorted(os.listdir(os.path.dirname(out))) if done.returncode == 0 else []
        good = done.returncode == 0 and files == ['q.onnx', 'q.onnx.data'] and os.path.getsize(out + '.data') > LIMIT
        if good:
            onnx.checker.check_model(out)
            stored = {i.name: i for i in onnx.load(out, load_external_data=False).graph.initializer}
            offset = next(int(e.value) for e in stored['big'].external_data if e.key == 'offset')
            data = np.memmap(out + '.data', np.float32, 'r', offset, (ROWS, COLUMNS))
            good = data[0, 0] == 1.5 and data[ROWS - 1, 7] == -2.25 and data[5, 6] == 3 and 'small_quantized' in stored
            x = np.random.default_rng(1).normal(size=(1, ROWS)).astype(np.float32)
            before, after = run(path, x), run(out, x)
            good = good and np.abs(before - after).max() < 0.02 * np.abs(before).max()
        print('as it should be' if good else f'WRONG: files {files}')
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
