#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""extended_bodies.py CLI: the functions of ExtendedQuantizeLinear and ExtendedDequantizeLinear in exported models, against numpy.

For integers of 4 and 32 bit: x = clip (rint (x / s) + z, least, largest), back (x - z) s. onnxruntime runs the functions, our
engine its kernels; numbers reach beyond both ends, lie on ties, and have a scale for all or one for each channel."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

RANGES = {'uint4': (0, 15), 'int4': (-8, 7), 'int32': (-2 ** 31, 2 ** 31 - 1), 'uint32': (0, 2 ** 32 - 1)}


def export(cli, dtype, path):
    """The two functions, as a quantized demo network holds them."""
    import onnx

    demo = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'data', 'demo', 'demo.onnx')
    subprocess.run([cli, 'quantize', demo, '-o', path, '--data=random', '--samples=1', '--held-out=0', '--skip-compare',
                    '--json', '--format=extended', '--activation=' + dtype, '--weight=int8'], check=True, capture_output=True)
    return onnx.load(path)


def pair(exported, dtype, scale, zero, shape):
    """x -> quantized -> y, of the functions."""
    from onnx import TensorProto, helper, numpy_helper

    element = getattr(TensorProto, dtype.upper())
    zeros = helper.make_tensor('z', element, list(zero.shape), [int(v) for v in zero.ravel()])
    axis = 1 if scale.ndim else 0
    nodes = [helper.make_node('ExtendedQuantizeLinear', ['x', 's', 'z'], ['q'], domain='com.amd.quark', axis=axis),
             helper.make_node('ExtendedDequantizeLinear', ['q', 's', 'z'], ['y'], domain='com.amd.quark', axis=axis)]
    graph = helper.make_graph(nodes, 'pair', [helper.make_tensor_value_info('x', 1, shape)],
                              [helper.make_tensor_value_info('y', 1, shape)], [numpy_helper.from_array(scale, 's'), zeros])
    model = helper.make_model(graph, opset_imports=exported.opset_import, ir_version=exported.ir_version)
    model.functions.extend(exported.functions)
    return model


def main():
    oracle.use_oracle_python()
    import numpy as np
    import onnx

    cli, wrong, rng = sys.argv[1], 0, np.random.default_rng(0)
    for dtype, (least, largest) in RANGES.items():
        with tempfile.TemporaryDirectory() as folder:
            path, sample = os.path.join(folder, 'm.onnx'), os.path.join(folder, 'x.npy')
            exported = export(cli, dtype, path)
            for per_channel in (False, True):
                scale = np.float32([0.5, 0.25, 2]) if per_channel else np.array(0.5, np.float32)
                zero = np.array([0, 3, 5]) if per_channel else np.array(2)
                x = (rng.integers(-60, 61, (2, 3, 40)) / np.float32(4)).astype(np.float32)
                x[0, :, :4] = [1e12, -1e12, 3e9, -3e9]
                s, z = (v.reshape(1, -1, 1) if per_channel else v for v in (scale, zero))
                q = np.clip(np.rint(x / s).astype(np.float64) + z, least, largest)
                expected = ((q - z).astype(np.float32) * s).astype(np.float32)
                np.save(sample, x)
                onnx.save(pair(exported, dtype, scale, zero, x.shape), path)
                theirs, = oracle.open_session(path).run(None, {'x': x})
                subprocess.run([cli, 'run', path, '--input', 'x=' + sample, '-o', folder], check=True, capture_output=True)
                ours = np.load(os.path.join(folder, 'y.npy'))
                counts = [int((expected != y).sum()) for y in (theirs, ours)]
                wrong += any(counts) or len(np.unique(q)) < 10
                print(f'{dtype:7} {"channel" if per_channel else "tensor":8} onnxruntime differs in {counts[0]}, '
                      f'we in {counts[1]} of {x.size}')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
