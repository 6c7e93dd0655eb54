#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_small.py QUANTIZE_RUN [CASE...]: small networks with one difficulty each, quantized by us and run by onnxruntime.

What counts is the result: close to the float network. Several of these are cases where onnxruntime.quantization gives
wrong numbers or fails."""
import os
import subprocess
import sys
import tempfile

import oracle

CASES = {}
LEAST_SQNR = 26   # dB; 8 bit give 30 to 40 on such shallow networks


def case(*options):
    def register(build):
        CASES[build.__name__] = (build, list(options))
        return build
    return register


class Net:
    """Collects nodes and weights; every network has the input x."""

    def __init__(self, shape, opset=17, seed=1):
        import numpy as np

        self.rng = np.random.default_rng(seed)
        self.shape, self.opset = shape, opset
        self.nodes, self.weights, self.outputs = [], [], []

    def weight(self, name, shape, scale=1.0):
        import numpy as np
        return self.constant(name, self.rng.normal(0, scale, shape).astype(np.float32))

    def constant(self, name, array):
        from onnx import numpy_helper
        import numpy as np
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, outputs, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(op, inputs.split(' '), outputs.split(' '), name='n%d' % len(self.nodes), **attributes))

    def save(self, path, outputs):
        import onnx
        from onnx import TensorProto, helper
        x = helper.make_tensor_value_info('x', TensorProto.FLOAT, self.shape)
        y = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
        model = helper.make_model(helper.make_graph(self.nodes, 'g', [x], y, self.weights),
                                  opset_imports=[helper.make_opsetid('', self.opset)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


@case()
def gemm_beta(path):
    net = Net([4, 16])
    net.weight('w', (8, 16)), net.weight('b', (8,), 5)
    net.node('Gemm', 'x w b', 'y', transB=1, alpha=0.5, beta=3.0)
    net.save(path, ['y'])


@case('--per-channel')
def gemm_beta_shared_bias(path):
    net = Net([4, 16])
    net.weight('w', (16, 8)), net.weight('b', (1, 8), 5), net.weight('v', (8, 8))
    net.node('Gemm', 'x w b', 'h', beta=3.0)
    net.node('Gemm', 'h v b', 'y')
    net.save(path, ['y'])


@case()
def clip_above_zero(path):
    import numpy as np
    net = Net([1, 4, 8, 8])
    net.weight('w', (6, 4, 3, 3))
    net.constant('low', np.float32(1)), net.constant('high', np.float32(5))
    net.node('Conv', 'x w', 'c')
    net.node('Clip', 'c low high', 'd')
    net.weight('w2', (3, 6, 3, 3))
    net.node('Conv', 'd w2', 'y')
    net.save(path, ['y'])


@case()
def relu_of_output(path):
    net = Net([1, 4, 8, 8])
    net.weight('w', (6, 4, 3, 3)), net.weight('b', (6,))
    net.node('Conv', 'x w b', 'c')
    net.node('Relu', 'c', 'y')
    net.save(path, ['c', 'y'])


@case('--per-channel')
def grouped_transpose(path):
    net = Net([1, 4, 6, 6])
    net.weight('w', (4, 3, 3, 3)), net.weight('b', (6,))
    net.node('ConvTranspose', 'x w b', 'y', group=2, strides=[2, 2])
    net.save(path, ['y'])


@case('--per-channel')
def batched_matmul(path):
    net = Net([2, 5, 8])
    net.weight('w', (2, 8, 7))
    net.node('MatMul', 'x w', 'm')
    net.weight('k', (7,))
    net.node('Add', 'm k', 'y')
    net.save(path, ['y'])


@case('--per-channel')
def constant_left(path):
    net = Net([8, 7])
    net.weight('w', (5, 8))
    net.node('MatMul', 'w x', 'y')
    net.save(path, ['y'])


@case()
def shared_bias_and_data(path):
    net = Net([1, 4, 8, 8])
    net.weight('w', (4, 4, 1, 1)), net.weight('b', (4,)), net.weight('k', (4, 1, 1))
    net.node('Conv', 'x w b', 'c')
    net.node('Conv', 'c w b', 'd')
    net.node('Mul', 'd k', 'e')
    net.node('Sub', 'e k', 'y')
    net.save(path, ['y'])


@case('--exclude', 'n0')
def excluded_sharing(path):
    shared_bias_and_data(path)


@case('--wide', 'n1')
def wide_node(path):
    shared_bias_and_data(path)


@case()
def bias_overflow(path):
    import numpy as np
    net = Net([1, 4, 8, 8])
    net.constant('w', net.rng.normal(0, 1e-7, (4, 4, 1, 1)).astype(np.float32))
    net.constant('b', np.array([1, -500, 3000, 2000], np.float32))
    net.node('Conv', 'x w b', 'y')
    net.save(path, ['y'])


@case('--ranges')
def subgraph(path):
    """A branch of If reads a tensor of the main graph."""
    import numpy as np
    from onnx import TensorProto, helper
    net = Net([1, 4, 8, 8])
    net.weight('w', (4, 4, 3, 3)), net.constant('yes', np.array(True))
    net.node('Conv', 'x w', 'c')
    net.node('Sigmoid', 'c', 's')
    out = [helper.make_tensor_value_info('i', TensorProto.FLOAT, None)]
    then = helper.make_graph([helper.make_node('Mul', ['c', 's'], ['i'])], 'then', [], out)
    other = helper.make_graph([helper.make_node('Neg', ['c'], ['i'])], 'else', [], out)
    net.nodes.append(helper.make_node('If', ['yes'], ['y'], name='if', then_branch=then, else_branch=other))
    net.save(path, ['y'])


@case()
def selection(path):
    """Operators that hand on quantized data."""
    import numpy as np
    net = Net([1, 8, 8, 8])
    net.weight('w', (8, 8, 1, 1)), net.constant('pads', np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64))
    net.constant('index', np.array([0, 2, 3, 1], np.int64)), net.constant('fill', np.float32(-9))
    net.node('Conv', 'x w', 'c')
    net.node('MaxPool', 'c', 'p', kernel_shape=[2, 2])
    net.node('Pad', 'p pads', 'q')
    net.node('Pad', 'q pads fill', 'r')
    net.node('Split', 'r', 's1 s2', axis=1)
    net.node('Gather', 's1 index', 'g', axis=1)
    net.node('Greater', 'g s2', 'more')
    net.node('Where', 'more g s2', 'z')
    net.node('Softmax', 'z', 'y', axis=1)
    net.save(path, ['y'])


@case()
def input_is_output(path):
    net = Net([1, 4, 8, 8])
    net.weight('k', (4, 1, 1))
    net.node('Mul', 'x k', 'y')
    net.save(path, ['x', 'y'])


def observe(source, samples, folder):
    """Ranges of all float tensors of the main graph, by onnxruntime: for networks that we cannot run."""
    import onnx

    model = onnx.load(source)
    del model.graph.output[:]
    names = [o for n in model.graph.node for o in n.output]
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
    session = oracle.open_session(model)
    runs = [dict(zip(names + ['x'], session.run(None, {'x': x}) + [x])) for x in samples]
    path = os.path.join(folder, 'ranges.txt')
    with open(path, 'w') as f:
        for n in runs[0]:
            f.write('%s\t%s\t%s\n' % (n, float(min(r[n].min() for r in runs)).hex(), float(max(r[n].max() for r in runs)).hex()))
    return path


def sqnr(a, b):
    import numpy as np
    a, b = a.astype(np.float64), b.astype(np.float64)
    return 10 * np.log10((a ** 2).sum() / max(((a - b) ** 2).sum(), 1e-30))


def run_case(program, build, options, folder):
    import numpy as np
    import onnx

    source, result = os.path.join(folder, 'float.onnx'), os.path.join(folder, 'quantized.onnx')
    build(source)
    session = oracle.open_session(source)
    rng = np.random.default_rng(2)
    samples = [rng.normal(0, 1, session.get_inputs()[0].shape).astype(np.float32) for _ in range(8)]
    os.mkdir(os.path.join(folder, 'npy'))
    for i, x in enumerate(samples):
        np.save(os.path.join(folder, 'npy', '%d.npy' % i), x)
    if options == ['--ranges']:
        options = ['--ranges', observe(source, samples, folder)]
    else:
        options = options + ['--data', os.path.join(folder, 'npy')]
    subprocess.run([program, *options, source, result,
                    os.path.join(folder, 'plan.json')], check=True, capture_output=True, text=True)
    onnx.checker.check_model(result, full_check=True)
    quantized = oracle.open_session(result)
    expected, got = ([s.run(None, {'x': x}) for x in samples] for s in (session, quantized))
    n = sum(node.op_type == 'DequantizeLinear' for node in onnx.load(result).graph.node)
    return n, [sqnr(np.stack([e[i] for e in expected]), np.stack([g[i] for g in got]))
               for i in range(len(session.get_outputs()))]


def main():
    oracle.use_oracle_python()
    program, names = sys.argv[1], sys.argv[2:] or list(CASES)
    wrong = 0
    for name in names:
        build, options = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            try:
                n, values = run_case(program, build, options, folder)
                ok = n > 0 and min(values) >= LEAST_SQNR
                text = '%d quantized tensors, %s dB' % (n, ', '.join('%.1f' % v for v in values))
            except subprocess.CalledProcessError as e:
                ok, text = False, e.stderr.strip()
            except Exception as e:
                ok, text = False, str(e).strip()[:300]
        wrong += not ok
        print('%-24s %s%s' % (name, text, '' if ok else '  WRONG'))
    print('%d cases, %d wrong' % (len(names), wrong))
    sys.exit(0 if names and wrong == 0 else 1)


if __name__ == '__main__':
    main()
