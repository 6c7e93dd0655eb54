#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""subnormals.py ENGINE_RUN: what subnormal numbers cost.

Convolutions and products whose weights are subnormal, all or one in ten, beside the same networks with the weights that are 0
instead, in turns in the same run: the best time of a pass, and the median of the ratios of the rounds. It fails if one is above
1.3, or if the results differ by more than 1e-30. On some processors the ratio is 100 where nobody takes such numbers for 0.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ENGINE, ROUNDS, LIMIT = os.path.realpath(sys.argv[1]), 7, 1.3


def save(path, node, weight, x, y):
    graph = helper.make_graph([node], 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, y)], [numpy_helper.from_array(weight, 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


CASES = {
    'Conv 1x1': (lambda: helper.make_node('Conv', ['x', 'w'], ['y']), (192, 200, 1, 1), [1, 200, 20, 20], [1, 192, 20, 20]),
    'Conv 3x3': (lambda: helper.make_node('Conv', ['x', 'w'], ['y'], pads=[1] * 4), (64, 64, 3, 3), [1, 64, 28, 28],
                 [1, 64, 28, 28]),
    'MatMul': (lambda: helper.make_node('MatMul', ['x', 'w'], ['y']), (256, 256), [128, 256], [128, 256]),
}


def measure(path, out=None):
    """Milliseconds of a pass; with out, its outputs are written there."""
    if out is not None:
        subprocess.run([ENGINE, path, '--threads', '1', '--out', out], check=True, stdout=subprocess.DEVNULL)
        return np.load(os.path.join(out, sorted(f for f in os.listdir(out) if f.endswith('.npy'))[0]))
    text = subprocess.run([ENGINE, '--seconds', '0.1', '--threads', '1', path], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return 1000 / float(re.search(r'best .* ([\d.]+) images/s', text).group(1))


def main():
    failed, rng = 0, np.random.default_rng(1)
    for label, (node, shape, x, y) in CASES.items():
        for share in (1.0, 0.1):
            weight = rng.normal(0, 0.05, shape).astype(np.float32)
            chosen = rng.random(shape) < share
            for name, number in (('small', 1e-40), ('zero', 0)):
                weight[chosen] = np.float32(number)
                save(name + '.onnx', node(), weight, x, y)
            results = [measure(name + '.onnx', tempfile.mkdtemp(dir='.')) for name in ('small', 'zero')]
            pairs = [(measure('small.onnx'), measure('zero.onnx')) for _ in range(ROUNDS)]
            ratio = statistics.median(a / b for a, b in pairs)
            apart = float(np.abs(results[0].astype(np.float64) - results[1]).max())
            print('%-9s %3.0f %% subnormal: %7.3f ms, zeros %7.3f ms, ratio %.2f, results apart by %.1g' %
                  (label, share * 100, min(a for a, _ in pairs), min(b for _, b in pairs), ratio, apart), flush=True)
            failed += ratio > LIMIT or not apart < 1e-30
    sys.exit(failed > 0)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
