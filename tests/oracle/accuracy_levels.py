#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""accuracy_levels.py ENGINE_RUN

MatMulNBits at each accuracy_level, of 2, 4 and 8 bits, with and without zero points, in blocks of 16 to 256, for one row and
for many, with rows that end in the middle of a block: the engine computes what onnxruntime does, to LIMITS of the largest
output. What is rounded at level 4 must differ from level 0, or nothing was compared.
"""
import os
import sys
import tempfile

import networks
import oracle

LIMITS = {False: 4e-6, True: 1e-6}    # of products of floats, which both add in an order of their own, and of integers
ROUNDED = 1e-4      # of the largest output: what rounding to 8 bits changes at least
N = 33
SIZES = [(1, 512), (1, 1000), (2, 100), (17, 96), (40, 4096), (130, 300)]    # rows, K
LEVELS = [0, 1, 2, 3, 4]
INTEGER = 4
BLOCKS = [16, 32, 64, 128, 256]
FLOAT_BLOCKS = {2: [16, 256]}    # bits -> blocks that onnxruntime multiplies in float at any level


def list_cases():
    return [(bits, block, zeros, level) for bits in (2, 4, 8) for block in BLOCKS for zeros in (False, True) for level in LEVELS]


def make_model(path, k, rng):
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    nodes, constants, made = [], [], {}
    for case in list_cases():
        bits, block, zeros, level = case
        if case[:3] not in made:      # the same numbers at each level
            label, blocks = '%d_%d_%d' % case[:3], -(-k // block)
            arrays = {'b': rng.integers(0, 256, (N, blocks, block * bits // 8)).astype(np.uint8),
                      's': (rng.standard_normal((N, blocks)) * 0.1).astype(np.float32)}
            if zeros:
                arrays['z'] = rng.integers(0, 256, (N, -(-blocks * bits // 8))).astype(np.uint8)
            if block == 64:
                arrays['bias'] = rng.standard_normal(N).astype(np.float32)
            constants += [numpy_helper.from_array(v, a + label) for a, v in arrays.items()]
            made[case[:3]] = [a + label if a in arrays else '' for a in ('b', 's', 'z', 'groups', 'bias')]
        attributes = {'accuracy_level': level} if level else {}
        nodes.append(helper.make_node('MatMulNBits', ['a', *made[case[:3]]], ['y%d' % len(nodes)], domain='com.microsoft',
                                      N=N, K=k, bits=bits, block_size=block, **attributes))
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ['rows', w])
              for n, w in [('a', k)] + [(node.output[0], N) for node in nodes]]
    graph = helper.make_graph(nodes, 'levels', values[:1], values[1:], constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21), helper.make_opsetid('com.microsoft', 1)],
                           ir_version=10), path)


def main():
    oracle.use_oracle_python()
    import numpy as np

    compared = failed = rounded = 0
    rng = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as work:
        for rows, k in SIZES:
            path = os.path.join(work, 'levels.onnx')
            make_model(path, k, rng)
            a = (rng.standard_normal((rows, k)) * rng.choice([0.01, 1, 30], (rows, 1))).astype(np.float32)
            a[0, :min(k, 32)] = 0       # a block without a scale
            a[-1, 1::7] = np.rint(a[-1, 1::7] * 2) / 2
            wanted = networks.make_session(path, False).run(None, {'a': a})
            found = networks.run_engine(sys.argv[1], path, {'a': a})
            worst, of_float = {False: 0.0, True: 0.0}, {}
            for i, (bits, block, zeros, level) in enumerate(list_cases()):
                w, f = wanted[i].astype(np.float64), found['y%d' % i].astype(np.float64)
                off = float(np.abs(w - f).max() / np.abs(w).max())
                if level == 0:
                    of_float[bits, block, zeros] = f
                change = float(np.abs(f - of_float[bits, block, zeros]).max() / np.abs(w).max())
                should = level == INTEGER and block not in FLOAT_BLOCKS.get(bits, [])
                wrong = off > LIMITS[should] or (change > ROUNDED if not should else change < ROUNDED)
                compared, failed, rounded = compared + 1, failed + wrong, rounded + should
                worst[should] = max(worst[should], off)
                if wrong:
                    print('%d bit, blocks of %d, %s, level %d, %d x %d: off %.2e, rounding changes %.2e' %
                          (bits, block, 'zero points' if zeros else 'symmetric', level, rows, k, off, change))
            print('%d rows of %d: off by at most %.2e of floats, %.2e of integers' % (rows, k, worst[False], worst[True]),
                  flush=True)
    print('%d compared, %d rounded, %d bad' % (compared, rounded, failed))
    sys.exit(1 if failed or not rounded else 0)


if __name__ == '__main__':
    main()
