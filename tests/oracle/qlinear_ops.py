#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""qlinear_ops.py VERNIER_CLI: QLinearOps with given parameters, against the formulas worked out in numpy.

Two convolutions, the second in groups and without bias, a product by a constant and one of two activations, by the old
tool's parameters, {"tensor": [zero point, scale]}: for results alone where inputs are quantized while the network runs, for
inputs and results otherwise. onnxruntime on the export, our own run and the formulas must give the same integers; one in a
hundred may be off by one, as a float that lies on a step may fall to either side of it.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

oracle.use_oracle_python()

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F = np.float32
RESULTS = {'c1': (121, F(0.021)), 'c2': (130, F(0.017)), 'm1': (125, F(0.011)), 'm2': (127, F(0.03))}
INPUTS = {'x': (113, F(0.03)), 'r': (0, F(0.011)), 'f': (130, F(0.017)), 't': (125, F(0.011))}


def make_model(path):
    rng = np.random.default_rng(7)
    constants = {'w1': rng.normal(0, 0.2, (4, 3, 3, 3)), 'b1': rng.normal(0, 0.3, 4), 'w2': rng.normal(0, 0.3, (6, 2, 1, 1)),
                 'k': rng.normal(0, 0.2, (36, 5))}
    constants = {n: v.astype(F) * (np.arange(1, v.shape[0] + 1).reshape([-1] + [1] * (v.ndim - 1)) if n[0] == 'w'
                                   else 1).astype(F)
                 if n[0] == 'w' else v.astype(F) for n, v in constants.items()}
    nodes = [helper.make_node('Conv', ['x', 'w1', 'b1'], ['c1'], 'first', pads=[1, 1, 1, 1], strides=[1, 1]),
             helper.make_node('Relu', ['c1'], ['r'], 'relu'),
             helper.make_node('Conv', ['r', 'w2'], ['c2'], 'second', group=2),
             helper.make_node('Reshape', ['c2', 'shape'], ['f'], 'flat'),
             helper.make_node('MatMul', ['f', 'k'], ['m1'], 'by_constant'),
             helper.make_node('Transpose', ['m1'], ['t'], 'turned', perm=[1, 0]),
             helper.make_node('MatMul', ['t', 'm1'], ['m2'], 'by_itself')]
    graph = helper.make_graph(nodes, 'products', [helper.make_tensor_value_info('x', 1, [1, 3, 6, 6])],
                              [helper.make_tensor_value_info('c1', 1, [1, 4, 6, 6]),
                               helper.make_tensor_value_info('m2', 1, [5, 5])],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()] +
                              [numpy_helper.from_array(np.array([6, 36], np.int64), 'shape')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), path)
    return constants


# ---- formulas ----

def dynamic(x):
    """DynamicQuantizeLinear."""
    low, high = min(F(0), x.min()), max(F(0), x.max())
    scale = F(1) if high == low else F((high - low) / F(255))
    zero = int(np.rint(np.clip(F(0) - low / scale, 0, 255)))
    return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.int64), scale, zero


def static(x, params):
    zero, scale = params
    return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.int64), scale, zero


def weight(w, signed, axis):
    """Symmetric: -127 .. 127, or 0 .. 255 around 128 (ties to even make 127.5 that)."""
    amount = np.abs(w).max() if axis is None else np.abs(w).max(tuple(i for i in range(w.ndim) if i != axis))
    scale = (2.0 * amount / (254 if signed else 255)).astype(F)
    s = scale if axis is None else scale.reshape([-1 if i == axis else 1 for i in range(w.ndim)])
    zero = 0 if signed else 128
    return np.clip(np.rint(w / s) + zero, -128 if signed else 0, 127 if signed else 255).astype(np.int64) - zero, scale


def convolve(x, w, group, pad):
    n = x.shape[0]
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    out, kh = np.zeros((n, w.shape[0], x.shape[2] - w.shape[2] + 1, x.shape[3] - w.shape[3] + 1), np.int64), w.shape[2]
    per, each = w.shape[0] // group, w.shape[1]
    for m in range(w.shape[0]):
        data = x[:, m // per * each:(m // per + 1) * each]
        for i in range(kh):
            for j in range(w.shape[3]):
                out[:, m] += (data[:, :, i:i + out.shape[2], j:j + out.shape[3]] * w[m, :, i, j].reshape(1, -1, 1, 1)).sum(1)
    return out


def requantize(sums, scale, result):
    zero, step = result
    return np.clip(np.rint(sums * (np.asarray(scale, np.float64) / np.float64(step))) + zero, 0, 255).astype(np.int64)


def conv(x, w, bias, result, signed, per_channel, group, pad):
    q, xs, xz = x
    wq, ws = weight(w, signed, 0 if per_channel else None)
    product = (xs * ws).astype(F)
    sums = convolve(q - xz, wq, group, pad)
    if bias is not None:
        sums = sums + np.rint(bias / product).astype(np.int64).reshape(1, -1, 1, 1)
    along = product.reshape(1, -1, 1, 1) if per_channel else product
    return requantize(sums, along, result)


def back(q, params):
    return (q - params[0]).astype(F) * params[1]


def expected(x, constants, is_dynamic, signed, per_channel):
    if is_dynamic:
        first, known = dynamic(x), {}
    else:
        first, known = static(x, INPUTS['x']), INPUTS
    c1 = conv(first, constants['w1'], constants['b1'], RESULTS['c1'], signed, per_channel, 1, 1)
    r = np.maximum(back(c1, RESULTS['c1']), 0)
    second = dynamic(r) if is_dynamic else static(r, known['r'])
    c2 = conv(second, constants['w2'], None, RESULTS['c2'], signed, per_channel, 2, 0)
    f = back(c2, RESULTS['c2']).reshape(6, 36)
    third = dynamic(f) if is_dynamic else static(f, known['f'])
    kq, ks = weight(constants['k'], signed, 1 if per_channel else None)
    m1 = requantize((third[0] - third[2]) @ kq, (third[1] * ks).astype(F), RESULTS['m1'])
    t = back(m1, RESULTS['m1']).T
    left = dynamic(t) if is_dynamic else static(t, known['t'])
    # the right side is integers already
    m2 = requantize((left[0] - left[2]) @ (m1 - RESULTS['m1'][0]), F(left[1] * RESULTS['m1'][1]), RESULTS['m2'])
    return {'c1': back(c1, RESULTS['c1']), 'm2': back(m2, RESULTS['m2'])}


# ---- comparing ----

def count(path):
    model = onnx.load(path)
    return {op: sum(n.op_type == op for n in model.graph.node) for op in
            ('QLinearConv', 'QLinearMatMul', 'DynamicQuantizeLinear', 'QuantizeLinear', 'DequantizeLinear', 'Conv', 'MatMul')}


def steps(a, b, name):
    """Share of the integers that differ, and by how much at most."""
    difference = np.abs(np.rint((a.astype(np.float64) - b) / RESULTS[name][1]))
    return float((difference > 0).mean()), int(difference.max())


def compare(cli, is_dynamic, signed, per_channel, folder):
    path, out, table = (os.path.join(folder, n) for n in ('m.onnx', 'q.onnx', 'given.json'))
    constants = make_model(path)
    with open(table, 'w', encoding='utf-8') as file:
        pairs = {k: {n: [z, float(s)] for n, (z, s) in d.items()} for k, d in
                 (('input_quantization_params', {} if is_dynamic else INPUTS), ('output_quantization_params', RESULTS))}
        json.dump(pairs, file)
    command = [cli, 'quantize', path, '-o', out, '--ranges', table, '--format', 'qoperator', '--op-types', 'Conv', '--op-types',
               'MatMul', '--activation', 'u8', '--weight', 's8' if signed else 'u8', '--symmetric-weights=true',
               '--dynamic=' + str(is_dynamic).lower(), '--per-channel' if per_channel else '--per-tensor']
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr.strip()[:300]]
    onnx.checker.check_model(out, full_check=True)
    lines = []
    found = count(out)
    wanted = {'QLinearConv': 2, 'QLinearMatMul': 2, 'Conv': 0, 'MatMul': 0, 'DynamicQuantizeLinear': 4 if is_dynamic else 0}
    lines += [f'{found[op]} {op}, wanted {n}' for op, n in wanted.items() if found[op] != n]
    x = np.random.default_rng(1).normal(0.3, 1, (1, 3, 6, 6)).astype(F)
    np.save(os.path.join(folder, 'x.npy'), x)
    session = oracle.open_session(out)
    theirs = dict(zip([o.name for o in session.get_outputs()], session.run(None, {'x': x})))
    subprocess.run([cli, 'run', out, '--input', 'x=' + os.path.join(folder, 'x.npy'), '-o', folder], check=True,
                   capture_output=True)
    numbers = expected(x, constants, is_dynamic, signed, per_channel)
    for name, wanted in numbers.items():
        ours = np.load(os.path.join(folder, name + '.npy'))
        for who, got in (('onnxruntime', theirs[name]), ('our run', ours)):
            share, most = steps(got, wanted, name)
            if share > 0.01 or most > 1:
                lines.append(f'{name}: {who} differs from the formulas in {share:.1%}, by up to {most}')
        if len(np.unique(wanted)) < 8:
            lines.append(f'{name}: the network says too little')
    return lines


def main():
    cli, wrong, total = sys.argv[1], 0, 0
    for is_dynamic in (True, False):
        for signed in (True, False):
            for per_channel in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    lines = compare(cli, is_dynamic, signed, per_channel, folder)
                total += 1
                wrong += bool(lines)
                print('dynamic' if is_dynamic else 'static', 'int8' if signed else 'uint8', 'channel' if per_channel
                      else 'tensor',
                      '; '.join(lines) or 'equal')
    print(f'{total} compared, {wrong} wrong')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
