#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""rounding_targets.py CLI: second-order rounding of blocks aims at what the float network computes.

Products with residual sums between them are rounded to 4 bits. NumPy computes what each reads in the float network, x, and behind
the products that are rounded already, y, and rounds its weights W by itself, in float64: once as GPTQ does, towards W y, once as
GPTAQ, towards W x (Li et al., 2025, with the share of the difference that Vernier takes). The weights of the export are nearly
those of the latter; and their products with y are nearer to W x than those of the former, for all products together and all
behind the first. A row of the table is a network and its options; the bytes are the same for any number of threads.
"""
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
from onnx import TensorProto, helper, numpy_helper    # noqa: E402

CLI = os.path.realpath(sys.argv[1])
LENGTH, SAMPLES, BLOCK, DAMPING = 24, 12, 32, 0.01
# Name, widths of the products, whether results are added to what was read; share of the integers that may differ.
NETWORKS = [('chain', (64, 96, 64, 96, 64, 96), False, 0.01), ('residual', (64,) * 7, True, 0.01),
            ('wide', (96, 320, 96, 320, 96), False, 0.01)]
OPTIONS = ['--preset', 'w4-matmul', '--accuracy-level', '0', '--block-size', str(BLOCK), '--rounding', 'second-order',
           '--held-out', '0', '--skip-compare', '--no-verify']


def make_network(path, widths, residual, seed):
    rng, nodes, weights, x = np.random.default_rng(seed), [], [], 'x'
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        weights.append(numpy_helper.from_array((rng.standard_normal((k, n)) / k ** 0.5).astype(np.float32), f'w{i}'))
        nodes += [helper.make_node('MatMul', [x, f'w{i}'], [f'p{i}'], f'p{i}'), helper.make_node('Relu', [f'p{i}'], [f'r{i}'])]
        if residual:
            nodes.append(helper.make_node('Add', [f'r{i}', x], [f's{i}']))
        x = nodes[-1].output[0]
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [LENGTH, widths[0]])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, [LENGTH, widths[-1]])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)
    return [numpy_helper.to_array(w).astype(np.float64) for w in weights]


def make_samples(folder, width, seed):
    """Channels that depend on each other, as those of networks do."""
    rng = np.random.default_rng(seed)
    mix = rng.standard_normal((width // 4, width)) + 0.3 * rng.standard_normal((width // 4, width))
    os.makedirs(folder)
    samples = [(rng.standard_normal((LENGTH, width // 4)) @ mix / 4 + 0.2 * rng.standard_normal((LENGTH, width)))
               .astype(np.float32) for _ in range(SAMPLES)]
    for i, sample in enumerate(samples):
        np.save(os.path.join(folder, f'{i:02}.npy'), sample)
    return np.concatenate(samples).astype(np.float64)


def unpack(packed, n):
    return np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)[..., :n].astype(np.int64)


def read_weights(path):
    """(integers, scales, zero points) of each MatMulNBits, as inputs x outputs."""
    model, found = onnx.load(path), []
    constants = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != 'MatMulNBits':
            continue
        a = {x.name: x.i for x in node.attribute}
        n, blocks = a['N'], -(-a['K'] // BLOCK)
        q = unpack(constants[node.input[1]], BLOCK).reshape(n, -1)[:, :a['K']].T
        scales = constants[node.input[2]].reshape(n, blocks).T.astype(np.float64)
        zeros = np.full((blocks, n), 8) if len(node.input) < 4 or not node.input[3] else \
            unpack(constants[node.input[3]].reshape(n, -1), blocks).T
        found.append((q, np.repeat(scales, BLOCK, 0)[:a['K']], np.repeat(zeros, BLOCK, 0)[:a['K']]))
    return found


def run(weights, x, residual):
    """What each product reads."""
    reads = []
    for w in weights:
        reads.append(x)
        r = np.maximum(x @ w, 0)
        x = r + x if residual else r
    return reads


def round_as_gptq(w, scales, zeros, moments):
    """Integers. Column by column of what is read, that which is largest first."""
    k = len(w)
    order = np.argsort(-np.diag(moments), kind='stable')
    h = moments[np.ix_(order, order)]
    h = h + np.eye(k) * DAMPING * np.trace(h) / k
    factor = np.linalg.cholesky(np.linalg.inv(h)).T
    w, q = w[order].copy(), np.empty(w.shape, np.int64)
    for j in range(k):
        s, z = scales[order[j]], zeros[order[j]]
        q[j] = np.clip(np.rint(w[j] / s) + z, 0, 15)
        w[j:] -= np.outer(factor[j, j:], (w[j] - (q[j] - z) * s) / factor[j, j])
    found = np.empty_like(q)
    found[order] = q
    return found


def aim(w, x, y, moments):
    n, k = y.shape
    h = moments + np.eye(k) * DAMPING * np.trace(moments) / k
    return w + n / (n + k) * np.linalg.solve(h, y.T @ (x - y) @ w)


def export(work, name, *more):
    out = os.path.join(work, name)
    done = subprocess.run([CLI, 'quantize', os.path.join(work, 'net.onnx'), '-o', out, '--data', os.path.join(work, 'data'),
                           *OPTIONS, *more], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return out


def check(name, widths, residual, most, seed):
    """Faults, and how many products were compared."""
    with tempfile.TemporaryDirectory() as work:
        weights = make_network(os.path.join(work, 'net.onnx'), widths, residual, seed)
        samples = make_samples(os.path.join(work, 'data'), widths[0], seed)
        out = export(work, 'one.onnx', '--threads', '1')
        faults = []
        if open(out, 'rb').read() != open(export(work, 'three.onnx', '--threads', '3'), 'rb').read():
            faults.append('other bytes with 3 threads')
        found = read_weights(out)
    floats = run(weights, samples, residual)
    rounded = run([(q - z) * s for q, s, z in found], samples, residual)
    left = {'ours': 0, 'GPTQ': 0}
    for i, (w, x, y, (q, s, z)) in enumerate(zip(weights, floats, rounded, found)):
        moments = y.T @ y
        ways = {'ours': q, 'GPTQ': round_as_gptq(w, s, z, moments)}
        same = round_as_gptq(aim(w, x, y, moments), s, z, moments)
        off = (same != q).mean()
        errors = {way: np.square(x @ w - y @ ((p - z) * s)).sum() for way, p in ways.items()}
        print('%-9s %d: %.4f of the integers differ from NumPy; error %.4f, of GPTQ %.4f'
              % (name, i, off, errors['ours'], errors['GPTQ']), flush=True)
        if off > most:
            faults.append('product %d: %.4f of the integers differ' % (i, off))
        for way in left:
            left[way] += errors[way] if i else 0
    if left['ours'] >= left['GPTQ']:
        faults.append('the error is %.4f, of GPTQ %.4f' % (left['ours'], left['GPTQ']))
    return faults, len(found)


def main():
    compared, bad = 0, 0
    for seed, (name, widths, residual, most) in enumerate(NETWORKS):
        faults, n = check(name, widths, residual, most, seed)
        compared, bad = compared + n, bad + len(faults)
        for fault in faults:
            print('not ok', name, fault)
    print('%d compared, %d bad' % (compared, bad))
    sys.exit(1 if bad or not compared else 0)


if __name__ == '__main__':
    main()
