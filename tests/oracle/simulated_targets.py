#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""simulated_targets.py CLI: what --simulate-target computes, against numpy and, where its kernels saturate, onnxruntime.

Networks of convolutions (ordinary, in groups, of three channels, with padding, strides and dilations) and of matrix
products are quantized as uint8 × int8 with weights and inputs so large that pairs of products do not fit in 16 bits. `dump` with
--simulate-target ort-cpu-no-vnni must give what numpy makes of the codes, whole number by whole number, and what onnxruntime
gives here if this processor has no VNNI; without the option both are far from it. With --simulate-target esp-dl ties are rounded
up. Targets of which nothing is known, and another engine beside it, are refused.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

TARGET, LEAST_APART, MOST_APART = 'ort-cpu-no-vnni', 0.2, 0.002    # of all codes, by more than one
CONVS = {    # kernel, in, out, groups, attributes
    'plain': (3, 8, 12, 1, {'pads': [1, 1, 1, 1]}), 'point': (1, 16, 10, 1, {}), 'odd': (3, 3, 8, 1, {'strides': [2, 2]}),
    'groups': (3, 8, 8, 2, {'dilations': [2, 2], 'pads': [2, 2, 2, 2]}), 'single': (1, 7, 4, 1, {}),
}


def build(name, nodes, weights, shape):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8))


def make_networks():
    """Name, network, samples."""
    import numpy as np
    from onnx import helper

    rng = np.random.default_rng(7)

    def heavy(shape):
        """Nearly all of like size."""
        return (rng.choice([-1, 1, 1], shape) * rng.uniform(0.8, 1, shape)).astype(np.float32)

    for name, (kernel, cin, cout, groups, attributes) in CONVS.items():
        weights = {'w': heavy((cout, cin // groups, kernel, kernel)), 'b': rng.normal(0, 1, cout).astype(np.float32)}
        node = helper.make_node('Conv', ['x', 'w', 'b'], ['y'], name='product', group=groups, **attributes)
        shape = [1, cin, 9, 11]
        yield name, build(name, [node], weights, shape), [rng.uniform(-0.2, 1, shape).astype(np.float32) for _ in range(4)]
    weights = {'w': heavy((24, 10)), 'b': rng.normal(0, 1, 10).astype(np.float32)}
    x = [rng.uniform(-0.2, 1, (5, 24)).astype(np.float32) for _ in range(4)]
    yield 'gemm', build('gemm', [helper.make_node('Gemm', ['x', 'w', 'b'], ['y'], name='product')], weights, [5, 24]), x
    turned = dict(weights, w=weights['w'].T.copy())
    node = helper.make_node('Gemm', ['x', 'w', 'b'], ['y'], name='product', transB=1)
    yield 'turned', build('turned', [node], turned, [5, 24]), x
    node = helper.make_node('MatMul', ['x', 'w'], ['y'], name='product')
    yield 'matmul', build('matmul', [node], {'w': heavy((24, 10))}, [2, 5, 24]), \
        [rng.uniform(-0.2, 1, (2, 5, 24)).astype(np.float32) for _ in range(4)]


# ---- what numpy makes of it ----

def add_pairs(a, b):
    """Rows of @a times columns of @b, in pairs that saturate."""
    import numpy as np

    if a.shape[1] % 2:
        a, b = np.pad(a, ((0, 0), (0, 1))), np.pad(b, ((0, 1), (0, 0)))
    pairs = a[:, 0::2, None] * b[None, 0::2] + a[:, 1::2, None] * b[None, 1::2]
    return np.clip(pairs, -32768, 32767).sum(1)


def windows(x, kernel, node, zero):
    """Of codes N x C x H x W: by output pixel what it sees, positions before channels."""
    import numpy as np

    attributes = {a.name: list(a.ints) for a in node.attribute if a.ints}
    top, left, bottom, right = attributes.get('pads', [0] * 4)
    strides, dilations = attributes.get('strides', [1, 1]), attributes.get('dilations', [1, 1])
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=zero)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    rows, columns = ((n - s) // t + 1 for n, s, t in zip(x.shape[2:], spans, strides))
    seen = [x[0, :, i * strides[0]:i * strides[0] + spans[0]:dilations[0], k * strides[1]:k * strides[1] + spans[1]:dilations[1]]
            for i in range(rows) for k in range(columns)]
    return np.stack([s.transpose(1, 2, 0) for s in seen]), (rows, columns)


def compute(path, x):
    """Codes of the output."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    arrays = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    makers = {o: n for n in model.graph.node for o in n.output}
    node = next(n for n in model.graph.node if n.op_type in ('Conv', 'Gemm', 'MatMul'))
    dx, dw = makers[node.input[0]], makers[node.input[1]]
    w, sw = arrays[dw.input[0]].astype(np.int64), arrays[dw.input[1]]
    sx, zx = arrays[dx.input[1]], int(arrays[dx.input[2]])
    codes = np.clip(np.rint(x / sx) + zx, 0, 255).astype(np.int64)
    bias = 0
    if len(node.input) > 2:
        db = makers[node.input[2]]
        bias = arrays[db.input[0]].astype(np.float64) * arrays[db.input[1]]
    if node.op_type == 'Conv':
        group = next((a.i for a in node.attribute if a.name == 'group'), 1)
        seen, sizes = windows(codes, w.shape[2:], node, zx)
        n_in, n_out, parts = w.shape[1], w.shape[0] // group, []
        for g in range(group):
            a = seen[..., g * n_in:(g + 1) * n_in].reshape(len(seen), -1)
            b = w[g * n_out:(g + 1) * n_out].transpose(2, 3, 1, 0).reshape(-1, n_out)
            parts.append(add_pairs(a, b) - zx * b.sum(0))
        y = np.concatenate(parts, 1) * (float(sx) * sw.astype(np.float64)) + bias
        y = y.T.reshape((1, -1) + sizes)
    else:
        b = w.T if any(a.name == 'transB' and a.i for a in node.attribute) else w
        sums = add_pairs(codes.reshape(-1, codes.shape[-1]), b) - zx * b.sum(0)
        y = (sums * (float(sx) * sw.astype(np.float64)) + bias).reshape(codes.shape[:-1] + (-1,))
    q = next(n for n in model.graph.node if n.op_type == 'QuantizeLinear' and n.input[0] == node.output[0])
    d = next(n for n in model.graph.node if n.op_type == 'DequantizeLinear' and n.input[0] == q.output[0])
    return d.output[0], np.clip(np.rint(y / arrays[q.input[1]]) + int(arrays[q.input[2]]), 0, 255)


# ---- ours ----

def dump(cli, path, sample, folder, tensor, *options):
    import numpy as np

    folder = tempfile.mkdtemp(dir=folder)
    done = subprocess.run([cli, 'dump', path, '--data', sample, '-o', folder, *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    listed = json.load(open(os.path.join(folder, 'index.json')))
    entry = next(e for e in listed['tensors'] if e['tensor'] == tensor and (e['quantized'] or '--float' in options))
    return np.fromfile(os.path.join(folder, entry['file'] + '.bin'), entry['dtype']).reshape(entry['shape'])


def run_runtime(path, x, tensor):
    """Its kernels on integers stand only between pairs: the codes that its output stands for."""
    import onnx
    import onnxruntime
    from onnx import numpy_helper
    import numpy as np

    session = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])    # not oracle's, which goes round it
    y = session.run(None, {'x': x})[0]
    model = onnx.load(path)
    arrays = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    q = next(n for n in model.graph.node if n.output[0] == tensor)    # its pair
    return np.rint(y / arrays[q.input[1]]) + int(arrays[q.input[2]])


def share_apart(a, b):
    import numpy as np
    return float(np.mean(np.abs(a.astype(np.int64) - b.astype(np.int64)) > 1))


def check_products(cli, folder):
    import numpy as np
    import onnx

    failed = n = 0
    for name, model, samples in make_networks():
        path, export = (os.path.join(folder, name + end) for end in ('.onnx', '.q.onnx'))
        onnx.save(model, path)
        data = os.path.join(folder, name)
        os.makedirs(data)
        for i, x in enumerate(samples):
            np.save(os.path.join(data, '%d.npy' % i), x)
        subprocess.run([cli, 'quantize', path, '--data', data, '-o', export, '--skip-compare', '--no-verify', '-p', 'cpu',
                        '--per-channel'], check=True, capture_output=True)
        tensor, wanted = compute(export, samples[0])
        sample = os.path.join(data, '0.npy')
        ours = dump(cli, export, sample, folder, tensor, '--simulate-target', TARGET)
        plain = dump(cli, export, sample, folder, tensor)
        figures = {'exact': share_apart(plain, wanted), 'simulated': share_apart(ours, wanted)}
        if oracle.saturates():
            there = run_runtime(export, samples[0], tensor)
            figures.update(runtime=share_apart(ours, there), runtime_exact=share_apart(plain, there))
        bad = [k for k, v in figures.items() if (v < LEAST_APART) == k.endswith('exact') or
               (not k.endswith('exact') and v > MOST_APART)]
        failed += bool(bad)
        n += 1
        print('%s %-8s %s' % ('not ok' if bad else 'ok', name, ' '.join('%s %.3f' % f for f in figures.items())), flush=True)
    return failed, n


def check_ties(cli, folder):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    step = 1 / 16
    graph = helper.make_graph(
        [helper.make_node('QuantizeLinear', ['x', 's', 'z'], ['q']),
         helper.make_node('DequantizeLinear', ['q', 's', 'z'], ['y'])],
        'ties', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 41])],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 41])],
        [numpy_helper.from_array(np.array(step, np.float32), 's'), numpy_helper.from_array(np.array(0, np.int8), 'z')])
    path, sample = os.path.join(folder, 'ties.onnx'), os.path.join(folder, 'ties.npy')
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    x = (np.arange(-20, 21)[None] * step / 2).astype(np.float32)
    np.save(sample, x)
    up = dump(cli, path, sample, folder, 'y', '--simulate-target', 'esp-dl')
    even = dump(cli, path, sample, folder, 'y')
    good = np.array_equal(up, np.floor(x / step + 0.5)) and np.array_equal(even, np.rint(x / step)) and (up != even).any()
    print('%s ties' % ('ok' if good else 'not ok'))
    return int(not good), 1


def check_biases(cli, folder):
    """Of ESP32-S3 they have 20 bits beside int8: those that need more are saturated."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng, steps = np.random.default_rng(2), (np.float32(1 / 32), np.float32(1 / 64))
    codes = rng.integers(-128, 128, (3, 4)).astype(np.int8)
    biases = np.array([600000, -700000, 524287], np.int32)
    constants = {'s': steps[0], 'z': np.int8(0), 'w': codes, 't': steps[1], 'b': biases, 'u': steps[0] * steps[1]}
    make = helper.make_node
    graph = helper.make_graph(
        [make('QuantizeLinear', ['x', 's', 'z'], ['q']), make('DequantizeLinear', ['q', 's', 'z'], ['d']),
         make('DequantizeLinear', ['w', 't', 'z'], ['f']), make('DequantizeLinear', ['b', 'u'], ['c']),
         make('Gemm', ['d', 'f', 'c'], ['y'], transB=1)],
        'biases', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    path, sample = os.path.join(folder, 'biases.onnx'), os.path.join(folder, 'biases.npy')
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    x = (rng.integers(-127, 128, (1, 4)) * steps[0]).astype(np.float32)
    np.save(sample, x)
    product = x.astype(np.float64) @ (codes * float(steps[1])).T
    failed = 0
    for target, least, most in (('esp-dl', -2**19, 2**19 - 1), ('esp-dl-wide', -2**31, 2**31 - 1)):
        wanted = product + np.clip(biases, least, most) * float(steps[0]) * float(steps[1])
        found = dump(cli, path, sample, folder, 'y', '--float', '--simulate-target', target)
        good = np.allclose(found, wanted, rtol=1e-6)
        failed += not good
        print('%s biases %s' % ('ok' if good else 'not ok', target))
    return failed, 2


def check_refusals(cli, folder):
    failed = 0
    cases = (['tract'], ['nothing-of-that-name'], [TARGET, '--engine', 'vernier'])
    for words in cases:
        done = subprocess.run([cli, 'dump', os.path.join(folder, 'ties.onnx'), '--data', os.path.join(folder, 'ties.npy'), '-o',
                               os.path.join(folder, 'd'), '--force', '--simulate-target', *words], capture_output=True, text=True)
        good = done.returncode != 0 and '--simulate-target' in done.stderr
        failed += not good
        print('%s refused: %s' % ('ok' if good else 'not ok', ' '.join(words)))
    return failed, len(cases)


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = [check(sys.argv[1], folder) for check in (check_products, check_ties, check_biases, check_refusals)]
    assert sum(n for _, n in results) > 0
    sys.exit(any(failed for failed, _ in results))


if __name__ == '__main__':
    oracle.use_oracle_python()
    main()
