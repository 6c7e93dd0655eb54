#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tokens.py VERNIER_CLI [ROWS...]: how long onnxruntime takes for one token of a language model, by its exports beside the
float one.

The network has the products of a decoder: LAYERS blocks of four products of WIDTH and a gated network of INNER, and a head of
WORDS tokens; nothing else in it takes time. Each export is made by the options of EXPORTS: the presets for small weights, and
MatMulNBits of 8 bits. Printed are processor time in milliseconds of one thread, the best of ROUNDS turns, what that is beside
the float network, and the size of the files. It fails if an export takes longer for one row than the float network does. ROWS:
other numbers of tokens at once, which are printed only.
"""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from onnx import TensorProto, helper, numpy_helper    # noqa: E402

LAYERS, WIDTH, INNER, WORDS = 4, 512, 1536, 8192
ROUNDS = int(os.environ.get('VN_PERF_ROUNDS', 15))
EIGHT = ['--format', 'matmulnbits', '--weight', 'uint8', '--symmetric-weights=false', '--block-size', '32']
EXPORTS = {'w4': ['--preset', 'w4'], 'w8': ['--preset', 'w8'], 'w4-matmul': ['--preset', 'w4-matmul'], 'matmulnbits uint8': EIGHT,
           'matmulnbits int8, 128': ['--format', 'matmulnbits', '--weight', 'int8', '--block-size', '128'],
           'w4-matmul, 128': ['--preset', 'w4-matmul', '--block-size', '128']}


def make_model(path):
    rng, nodes, constants = np.random.default_rng(5), [], []

    def product(x, rows, columns, name):
        weight = rng.standard_normal((rows, columns), np.float32) / np.float32(rows ** 0.5)
        constants.append(numpy_helper.from_array(weight, name + '.weight'))
        nodes.append(helper.make_node('MatMul', [x, name + '.weight'], [name], name))
        return name

    def combine(op, a, b, name):
        nodes.append(helper.make_node(op, [a, b], [name], name))
        return name

    x = 'x'
    for i in range(LAYERS):
        q, k, v = (product(x, WIDTH, WIDTH, '%s%d' % (n, i)) for n in 'qkv')
        x = combine('Add', x, product(combine('Mul', combine('Add', q, k, 'qk%d' % i), v, 'mix%d' % i), WIDTH, WIDTH, 'o%d' % i),
                    'attended%d' % i)
        gate = product(x, WIDTH, INNER, 'gate%d' % i)
        nodes.append(helper.make_node('Sigmoid', [gate], ['open%d' % i], 'sigmoid%d' % i))
        gate = combine('Mul', gate, 'open%d' % i, 'silu%d' % i)
        inner = combine('Mul', gate, product(x, WIDTH, INNER, 'up%d' % i), 'inner%d' % i)
        x = combine('Add', x, product(inner, INNER, WIDTH, 'down%d' % i), 'hidden%d' % i)
    product(x, WIDTH, WORDS, 'logits')
    values = [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 'rows', WIDTH]),
              helper.make_tensor_value_info('logits', TensorProto.FLOAT, [1, 'rows', WORDS])]
    graph = helper.make_graph(nodes, 'decoder', values[:1], values[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def measure(sessions, rows):
    """Milliseconds of processor time of each, in turns."""
    feeds = {'x': np.random.default_rng(rows).standard_normal((1, rows, WIDTH), np.float32)}
    best = [float('inf')] * len(sessions)
    for turn in range(ROUNDS + 1):
        for i, session in enumerate(sessions):
            session.run(None, feeds)      # what the others have thrown out of the caches comes back
            begin = time.thread_time()
            session.run(None, feeds)
            best[i] = min(best[i], time.thread_time() - begin) if turn else best[i]
    return [1000 * b for b in best]


def main():
    with tempfile.TemporaryDirectory() as work:
        paths = {'float': os.path.join(work, 'float.onnx')}
        make_model(paths['float'])
        for i, (name, options) in enumerate(EXPORTS.items()):
            paths[name] = os.path.join(work, '%d.onnx' % i)
            subprocess.run([sys.argv[1], 'quantize', paths['float'], '-o', paths[name], '--skip-compare', '--no-verify',
                            *options], check=True, capture_output=True)
        sessions = [open_session(path) for path in paths.values()]
        slow = []
        for rows in [1, *map(int, sys.argv[2:] or ['16'])]:
            times = measure(sessions, rows)
            for name, taken in zip(paths, times):
                print('%4d rows  %-24s %9.3f ms  x%.2f  %6.1f MB' % (rows, name, taken, taken / times[0],
                                                                      os.path.getsize(paths[name]) / 1e6), flush=True)
                if rows == 1 and taken > times[0]:
                    slow.append(name)
    if slow:
        print('slower than float: ' + ', '.join(slow))
    sys.exit(1 if slow else 0)


if __name__ == '__main__':
    main()
