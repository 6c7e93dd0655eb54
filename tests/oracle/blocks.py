#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""blocks.py CLI: weights in blocks between quantized activations, and alone.

A network of Conv, ConvTranspose, Gemm and MatMul, each with 40 numbers to sum over: blocks of 16 leave a remainder of 8. Each
DequantizeLinear must cut along that axis, have a scale for every block and none more, give back each weight to half a step of
its block, and onnxruntime must compute the same optimised, as written, and as our own run. A depthwise kernel has one scale for
each output channel, and with weights alone 8 bits.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

BLOCK = 16
# weight: axis that is summed over
AXES = {'conv': 1, 'turned': 0, 'dense': 1, 'product': 0}
CASES = [('qdq int4 uint8', ['--activation=uint8', '--weight=int4']),
         ('qdq uint4 uint16', ['--activation=uint16', '--weight=uint4', '--symmetric-weights=false']),
         ('qdq int8 int16', ['--activation=int16', '--weight=int8']),
         ('qdq int16 int8', ['--activation=int8', '--weight=int16']),
         ('weights uint4', ['--preset=w4', '--block-size=16'])]


def make_model(path):
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    rng = np.random.default_rng(2)
    shapes = {'conv': (40, 40, 3, 3), 'deep': (40, 1, 3, 3), 'turned': (40, 6, 2, 2), 'dense': (7, 40), 'product': (40, 9)}
    weights = {n: rng.normal(0, 0.2, s).astype(np.float32) for n, s in shapes.items()}
    biases = {'b': rng.normal(size=40).astype(np.float32), 'c': rng.normal(size=7).astype(np.float32)}
    nodes = [helper.make_node('Conv', ['x', 'conv', 'b'], ['a'], 'first', pads=[1] * 4),
             helper.make_node('Conv', ['a', 'deep'], ['d'], 'depthwise', group=40),
             helper.make_node('ConvTranspose', ['d', 'turned'], ['t'], 'transposed'),
             helper.make_node('GlobalAveragePool', ['d'], ['g'], 'pool'), helper.make_node('Flatten', ['g'], ['f'], 'flat'),
             helper.make_node('Gemm', ['f', 'dense', 'c'], ['y'], 'gemm', transB=1),
             helper.make_node('MatMul', ['f', 'product'], ['z'], 'matmul')]
    outputs = [helper.make_tensor_value_info(n, 1, s) for n, s in (('t', [1, 6, 7, 7]), ('y', [1, 7]), ('z', [1, 9]))]
    graph = helper.make_graph(nodes, 'blocks', [helper.make_tensor_value_info('x', 1, [1, 40, 8, 8])], outputs,
                              [numpy_helper.from_array(v, n) for n, v in {**weights, **biases}.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), path)
    return weights


def check_weights(model, weights, alone):
    """What is wrong about how they are stored."""
    import numpy as np
    from onnx import helper, numpy_helper

    values = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    types = {i.name: i.data_type for i in model.graph.initializer}
    wrong, seen = [], set()
    for node in model.graph.node:
        name = node.input[0].removesuffix('_quantized') if node.op_type == 'DequantizeLinear' else ''
        if name not in weights:
            continue
        seen.add(name)
        q, scale, zero = (values[n].astype(np.float64) for n in node.input)
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        w, axis = weights[name].astype(np.float64), AXES.get(name, 0)
        if attributes.get('axis') != axis or attributes.get('block_size', 0) != (BLOCK if name in AXES else 0):
            wrong.append(f'{name}: {attributes}')
        elif name in AXES:
            wanted = [-(-d // BLOCK) if i == axis else d for i, d in enumerate(w.shape)]
            if list(scale.shape) != wanted:
                wrong.append(f'{name}: scales {scale.shape}, wanted {wanted}')
                continue
            scale, zero = (np.repeat(v, BLOCK, axis).take(range(w.shape[axis]), axis) for v in (scale, zero))
        else:
            scale, zero = (v.reshape([-1, 1, 1, 1]) for v in (scale, zero))
            if alone and types[node.input[0]] not in (2, 3):
                wrong.append(f'{name}: type {types[node.input[0]]}')
        worst = np.abs((q - zero) * scale - w) / np.abs(scale)
        if worst.max() > 1.01:      # a rounded zero point costs up to half a step more, at the ends
            wrong.append(f'{name}: off by {worst.max():.2f} steps')
        if np.median(worst) > 0.3:
            wrong.append(f'{name}: half of it is off by more than {np.median(worst):.2f} steps')
    return wrong + [f'{n}: not stored small' for n in sorted(set(weights) - seen)]


def main():
    oracle.use_oracle_python()
    import numpy as np
    import onnx
    from end_to_end import session
    from number_types import run_ours

    cli, bad = sys.argv[1], 0
    x = np.random.default_rng(3).normal(size=(1, 40, 8, 8)).astype(np.float32)
    for label, options in CASES:
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, 'm.onnx'), os.path.join(folder, 'q.onnx')
            weights = make_model(path)
            data = [] if 'preset' in options[0] else ['--data=random', '--samples=4', '--held-out=0', f'--block-size={BLOCK}']
            done = subprocess.run([cli, 'quantize', path, '-o', out, '--skip-compare', *options, *data], capture_output=True,
                                  text=True)
            wrong = [done.stderr.strip()[:300]] if done.returncode != 0 else []
            if not wrong:
                onnx.checker.check_model(out, full_check=True)
                wrong = check_weights(onnx.load(out), weights, not data)
                written, optimised = session(out, as_written=True), session(out)
                names = [o.name for o in written.get_outputs()]
                expected, faster = written.run(None, {'x': x}), optimised.run(None, {'x': x})
                ours = run_ours(cli, out, {'x': x}, names, folder)
                for name, a, b, c in zip(names, expected, faster, ours):
                    for who, other in (('optimised', b), ('our run', c)):
                        if np.abs(a - other).max() > 0.02 * np.abs(a).max():
                            wrong.append(f'{name}: {who} is off by {np.abs(a - other).max():.3g} of {np.abs(a).max():.3g}')
        bad += bool(wrong)
        print(f'{label:20} {"; ".join(wrong) or "as it should be"}', flush=True)
    print(f'{len(CASES)} networks, {bad} wrong')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
