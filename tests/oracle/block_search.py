#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""block_search.py CLI: the scales and zero points that `block-method` mse stores, against a search of the same ranges in NumPy in
double precision: its error must be the least there is, and never more than that of the ends of each block. With an importance
matrix, errors count by the mean squares of what reaches the network's products, computed here from the samples.

Those of hqq: scales are those of the ends, and zero points those that the iteration finds in NumPy; onnxruntime computes what the
integers, with them, stand for."""
import itertools
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from onnx import helper, numpy_helper    # noqa: E402

CLI = sys.argv[1]
K, INNER, N, ROWS, SAMPLES = 96, 80, 24, 16, 4
SHARES = [1, .97, .94, .91, .88, .85, .82, .79, .76, .73, .7, 1.03]
NEAR, LEAST_EQUAL, LEAST_MOVED = 1e-3, 0.97, 0.05
MORE = 1 + 1e-4    # what float may lose to double precision
LEAST_SHARE = 1e-6


def make(path, folder):
    """Two products with Relu between; samples whose channels are of very different size, two of them 0."""
    rng = np.random.default_rng(5)
    w1, w2 = (rng.standard_t(4, size).astype(np.float32) for size in ((K, INNER), (INNER, N)))
    w1[:32, 3] = 0
    nodes = [helper.make_node('MatMul', ['x', 'w1'], ['h'], 'first'), helper.make_node('Relu', ['h'], ['r'], 'relu'),
             helper.make_node('MatMul', ['r', 'w2'], ['y'], 'second')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', 1, [ROWS, K])],
                              [helper.make_tensor_value_info('y', 1, [ROWS, N]), helper.make_tensor_value_info('r', 1, None)],
                              [numpy_helper.from_array(w1, 'w1'), numpy_helper.from_array(w2, 'w2')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)
    size = np.geomspace(0.05, 5, K).astype(np.float32)
    size[[7, 40]] = 0
    samples = [rng.normal(size=(ROWS, K)).astype(np.float32) * size for _ in range(SAMPLES)]
    os.makedirs(folder)
    for i, sample in enumerate(samples):
        np.save(os.path.join(folder, '%d.npy' % i), sample)
    session = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])
    read = [np.concatenate(samples), np.concatenate([session.run(['r'], {'x': s})[0] for s in samples])]
    return {'first': w1, 'second': w2}, {n: (x.astype(np.float64) ** 2).mean(0) for n, x in zip(('first', 'second'), read)}


def into_blocks(w, block):
    """[K, N] to [N, blocks, block], filled up with zeros."""
    blocks = -(-w.shape[0] // block)
    return np.pad(w.astype(np.float64), ((0, blocks * block - w.shape[0]), (0, 0))).T.reshape(w.shape[1], blocks, block)


def unpack(packed, bits, n):
    parts = [(packed >> shift) & (2 ** bits - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(packed.shape[0], -1)[:, :n].astype(np.float64)


def stored(path, block, bits):
    """By node: scale and zero point, [N, blocks, 1]."""
    model, found = onnx.load(path), {}
    values = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != 'MatMulNBits':
            continue
        scale = values[node.input[2]]
        n = next(a.i for a in node.attribute if a.name == 'N')
        scale = scale.reshape(n, -1)
        zero = np.full(scale.shape, 2.0 ** (bits - 1))
        if len(node.input) > 3 and node.input[3]:
            zero = values[node.input[3]].reshape(n, -1)
            zero = zero if zero.dtype == np.float32 else unpack(zero, bits, scale.shape[1])
        found['first' if node.input[0] == 'x' else 'second'] = scale.astype(np.float64)[..., None], zero[..., None]
    return found


def error_of(x, scale, zero, weights, high):
    with np.errstate(all='ignore'):
        q = np.where(scale == 0, 0, np.clip(np.round(x / scale) + zero, 0, high) - zero)
    return (weights * (q * scale - x) ** 2).sum(-1, keepdims=True), q


def ends(x, bits, symmetric):
    low, high, half = x.min(-1, keepdims=True), x.max(-1, keepdims=True), 2 ** (bits - 1)
    if symmetric:
        return np.where(np.abs(high) > np.abs(low), high, low) / -half, np.full(low.shape, float(half))
    scale = (np.maximum(high, 0) - np.minimum(low, 0)) / (2 * half - 1)
    with np.errstate(all='ignore'):
        return scale, np.where(scale == 0, 0, np.clip(np.round(-np.minimum(low, 0) / scale), 0, 2 * half - 1))


def search(x, weights, bits, symmetric):
    """The least error of each block, and that of its ends."""
    first, zero = ends(x, bits, symmetric)
    high = 2 ** bits - 1
    least = plain = error_of(x, first, zero, weights, high)[0]
    for share, step in itertools.product(SHARES, [0] if symmetric else [-1, 0, 1]):
        scale = first * share
        to = zero if symmetric else np.clip(np.round(zero / share) + step, 0, high)
        for _ in range(2):
            error, q = error_of(x, scale, to, weights, high)
            least = np.minimum(least, error)
            below, above = (weights * q * q).sum(-1, keepdims=True), (weights * q * x).sum(-1, keepdims=True)
            with np.errstate(all='ignore'):
                fitted = above / below
            scale = np.where((below > 0) & (fitted * scale > 0), fitted, scale)
    return least, plain


def hqq(x, weights, bits):
    """Zero points of half-quadratic quantization: norm 0.7, beta 10, growing by 1 %, 20 steps; the best of each block."""
    scale, zero = ends(x, bits, False)
    high, beta, least, best = 2 ** bits - 1, 10., np.full(zero.shape, np.inf), zero
    with np.errstate(all='ignore'):
        for _ in range(20):
            q = np.clip(np.round(x / scale + zero), 0, high)
            d = x - scale * (q - zero)
            error = (weights * np.abs(d)).sum(-1, keepdims=True)
            better = error < .9999 * least
            best, least = np.where(better, zero, best), np.where(better, error, least)
            e = np.sign(d) * np.maximum(np.abs(d) - np.abs(d) ** -.3 / beta, 0)
            zero = (weights * (q - (x - np.where(d == 0, 0, e)) / scale)).sum(-1, keepdims=True) / weights.sum(-1, keepdims=True)
            beta *= 1.01
    return scale, best


def compare_hqq(found, x, weights, bits, name, faults):
    """In float the iteration may end at another step."""
    scale, zero = hqq(x, weights, bits)
    used = scale != 0
    off = np.abs(found[1] - zero)[used]
    moved = (np.abs(zero - ends(x, bits, False)[1])[used] > 0.05).mean()
    print('%-50s zero points: %.4f equal, %.3f not those of the ends' % (name, (off < NEAR).mean(), moved), flush=True)
    if not np.allclose(found[0][used], scale[used], rtol=1e-6) or (off < NEAR).mean() < LEAST_EQUAL or moved < LEAST_MOVED:
        faults.append('%s: scales or zero points' % name)
    return off.size


def compute_stored(path, found, weights, block, bits, samples):
    """What the export computes, from its integers in NumPy."""
    model, dense = onnx.load(path), {}
    values = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == 'MatMulNBits':
            name = 'first' if node.input[0] == 'x' else 'second'
            scale, zero = found[name]
            k, n = weights[name].shape
            q = unpack(values[node.input[1]].reshape(n, -1), bits, scale.shape[1] * block).reshape(n, -1, block)
            dense[name] = ((q - zero) * scale).reshape(n, -1)[:, :k].T
    return [np.maximum(s @ dense['first'], 0) @ dense['second'] for s in samples]


def compare_run(path, found, weights, block, bits, data, name, faults):
    samples = [np.load(os.path.join(data, f)).astype(np.float64) for f in sorted(os.listdir(data))]
    session = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])
    wanted = np.concatenate(compute_stored(path, found, weights, block, bits, samples))
    got = np.concatenate([session.run(['y'], {'x': s.astype(np.float32)})[0] for s in samples])
    off = np.abs(got - wanted).max() / np.abs(wanted).max()
    print('%-50s outputs in onnxruntime: %.2g off' % (name, off), flush=True)
    if not off < 1e-5:
        faults.append('%s: outputs in onnxruntime are %.2g off' % (name, off))


def main():
    compared, faults = 0, []
    with tempfile.TemporaryDirectory() as work:
        path, data, out = (os.path.join(work, name) for name in ('m.onnx', 'data', 'out.onnx'))
        weights, squares = make(path, data)
        methods = [('mse', True), ('mse', False), ('hqq', False)]
        for bits, block, (method, symmetric), important in itertools.product((2, 4, 8), (16, 64), methods, (True, False)):
            if method == 'hqq' and bits == 8:
                continue
            name = '%s, u%d, blocks of %d, %s%s' % (method, bits, block, 'symmetric' if symmetric else 'with zero points',
                                                    ', importance' if important else '')
            run = subprocess.run([CLI, 'quantize', path, '-o', out, '--format', 'matmulnbits', '--weight', 'uint%d' % bits,
                                  '--block-size', str(block), '--symmetric-weights=%s' % str(symmetric).lower(),
                                  '--block-method', method, '--importance=%s' % str(important).lower(), '--data', data,
                                  '--calibration-samples', str(SAMPLES), '--skip-compare', '--no-verify'],
                                 capture_output=True, text=True)
            if run.returncode != 0:
                faults.append('%s: %s' % (name, run.stderr.strip()))
                continue
            found = stored(out, block, bits)
            if method == 'hqq':
                compare_run(out, found, weights, block, bits, data, name, faults)
            for node, w in weights.items():
                x = into_blocks(w, block)
                shares = squares[node] / squares[node].sum() * len(w) if important else np.ones(len(w))
                shares = into_blocks(np.maximum(shares, LEAST_SHARE)[:, None], block)
                if method == 'hqq':
                    compared += compare_hqq(found[node], x, shares, bits, name + ', ' + node, faults)
                    continue
                least, plain = search(x, shares, bits, symmetric)
                mine = error_of(x, *found[node], shares, 2 ** bits - 1)[0]
                won = 1 - mine.sum() / plain.sum()
                print('%-50s %-7s error less by %4.1f %%' % (name, node, 100 * won), flush=True)
                compared += mine.size
                if not np.all(mine <= least * MORE + 1e-12):
                    faults.append('%s: %s: %d blocks with more error than need be'
                                  % (name, node, int((mine > least * MORE + 1e-12).sum())))
                if won <= 0:
                    faults.append('%s: %s: nothing won' % (name, node))
    print('%d blocks compared' % compared)
    for fault in faults:
        print('WRONG   ' + fault)
    sys.exit(1 if faults or compared == 0 else 0)


main()
