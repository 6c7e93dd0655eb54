#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""block_bodies.py CLI: what the functions in exported models compute, run by onnxruntime, are the bits of our kernels.

For each format whose elements share exponents: the function of an export is put into a network of one node and fed numbers of
all magnitudes, subnormal ones, NaN, infinities and a block of zeros, with a remainder behind the last whole block, along each
axis. Only the sign of 0 may differ."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

TYPES = ['bfp16', 'mx4', 'mx6', 'mx9', 'mxint8', 'mxfp8e5m2', 'mxfp8e4m3', 'mxfp6e3m2', 'mxfp6e2m3', 'mxfp4']


def make_input():
    import numpy as np

    random = np.random.default_rng(0)
    x = (random.normal(size=(2, 37, 5)) * np.exp2(random.integers(-150, 120, size=(2, 37, 5)))).astype(np.float32)
    x[0, 0, 0], x[0, 1, 0], x[0, 8:16, 1] = np.nan, np.inf, 0
    x[1] = random.normal(size=(37, 5))
    return x


def export(cli, dtype, path):
    demo = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'data', 'demo', 'demo.onnx')
    subprocess.run([cli, 'quantize', demo, '-o', path, '--data=random', '--samples=1', '--held-out=0', '--skip-compare',
                    '--json', '--format=extended', '--activation=' + dtype, '--weight=' + dtype], check=True,
                   capture_output=True)


def single_node(exported, axis, shape):
    """A network of the first node of the export that calls its only function."""
    import onnx
    from onnx import helper

    function, = exported.functions
    node = onnx.NodeProto()
    node.CopyFrom(next(n for n in exported.graph.node if n.op_type == function.name))
    del node.input[:], node.output[:]
    node.input.append('x')
    node.output.append('y')
    next(a for a in node.attribute if a.name == 'axis').i = axis
    graph = helper.make_graph([node], 'one', [helper.make_tensor_value_info('x', 1, shape)],
                              [helper.make_tensor_value_info('y', 1, shape)])
    model = helper.make_model(graph, opset_imports=exported.opset_import, ir_version=exported.ir_version)
    model.functions.append(function)
    return model


def main():
    oracle.use_oracle_python()
    import numpy as np
    import onnx

    cli, x, wrong = sys.argv[1], make_input(), 0
    for dtype in TYPES:
        with tempfile.TemporaryDirectory() as folder:
            path, sample = os.path.join(folder, 'one.onnx'), os.path.join(folder, 'x.npy')
            export(cli, dtype, path)
            exported = onnx.load(path)
            np.save(sample, x)
            for axis in range(x.ndim):
                onnx.save(single_node(exported, axis, x.shape), path)
                theirs, = oracle.open_session(path).run(None, {'x': x})
                subprocess.run([cli, 'run', path, '--input', 'x=' + sample, '-o', folder], check=True, capture_output=True)
                ours = np.load(os.path.join(folder, 'y.npy'))
                different = int((~((ours == theirs) | (np.isnan(ours) & np.isnan(theirs)))).sum())
                wrong += different > 0
                print(f'{dtype:12} axis {axis}: {different} of {x.size} differ')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
