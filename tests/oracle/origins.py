#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""origins.py CLI SOURCE_DIR: what a tensor alone costs, as --origins tells it, is what onnxruntime finds with that one tensor
changed in the float network; and a fault that was put into one tensor is among the first three: what it computes may be worse
still."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from onnx import numpy_helper    # noqa: E402

CLI, SOURCE = sys.argv[1:3]
faults = []


def expect(good, what):
    print(('ok      ' if good else 'WRONG   ') + what)
    if not good:
        faults.append(what)


def find_origins(network, work, data, *options):
    out = os.path.join(work, 'q.onnx')
    done = subprocess.run([CLI, 'quantize', network, '-o', out, '--data', data, '--preset', 'cpu', '--per-channel', '--origins',
                           '--json',
                           *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)['report'], out


def run(model, samples):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = oracle.open_session(model, options)
    return [session.run(None, {session.get_inputs()[0].name: s}) for s in samples]


def sqnr(wanted, found):
    """Of each output over all samples, averaged over the outputs."""
    values = []
    for o in range(len(wanted[0])):
        noise = sum(((a[o].astype(np.float64) - b[o]) ** 2).sum() for a, b in zip(wanted, found))
        values.append(10 * np.log10(sum((a[o].astype(np.float64) ** 2).sum() for a in wanted) / max(noise, 1e-30)))
    return float(np.mean(values))


def with_tensor(model, name, values):
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for initializer in changed.graph.initializer:
        if initializer.name == name:
            initializer.CopyFrom(numpy_helper.from_array(values.astype(np.float32), name))
    return changed


def make_samples(folder, shape, n):
    rng = np.random.default_rng(5)
    os.mkdir(folder)
    for i in range(n):
        np.save(os.path.join(folder, f'{i:02}.npy'), rng.uniform(-1, 1, size=shape).astype(np.float32))
    return [np.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def check_weights(work, model, path, data, samples):
    """All samples serve: none is held out. What matters little is measured on the first of them only. Weights are taken from the
    export, as they come back from its integers."""
    report, out = find_origins(path, work, data, '--held-out', '0')
    constants = {i.name: numpy_helper.to_array(i) for i in onnx.load(out).graph.initializer}
    own = {i.name for i in model.graph.initializer}
    wanted, n = run(model, samples), 0
    for item in report['origins']:
        name = item['tensor']
        if item['role'] != 'weight' or name not in own or name + '_quantized' not in constants or item['samples'] == 0:
            continue
        used = samples[:item['samples']]
        q, scale = constants[name + '_quantized'].astype(np.float64), constants[name + '_scale'].astype(np.float64)
        found = sqnr(wanted[:len(used)], run(with_tensor(model, name, q * scale.reshape(-1, *[1] * (q.ndim - 1)) if scale.ndim
                                                         else q * scale), used))
        n += 1
        expect(abs(found - item['alone_sqnr_db']) < 0.1,
               f"{name}: {item['alone_sqnr_db']:.2f} dB alone on {len(used)} samples, onnxruntime {found:.2f}")
    expect(n >= 5, f'{n} weights compared')
    expect(report['origins'][0]['samples'] == len(samples), 'what costs most is measured on all samples')
    shares = [item['share'] for item in report['origins']]
    expect(shares == sorted(shares, reverse=True) and abs(sum(shares) - 1) < 1e-6,
           f'{len(shares)} shares add up to {sum(shares):.6f}')


def check_fault(work, model, data, layer):
    """One number of a weight is made so large that its channel, or the tensor, loses all others."""
    name = layer.input[1]
    weight = next(numpy_helper.to_array(i) for i in model.graph.initializer if i.name == name).copy()
    weight.reshape(weight.shape[0], -1)[:, 0] *= 200
    path = os.path.join(work, 'fault.onnx')
    onnx.save(with_tensor(model, name, weight), path)
    report, _ = find_origins(path, work, data)
    ranked = [item['tensor'] for item in report['origins']]
    expect(name in ranked[:3], f'a fault in {name} is among the first three (found at {ranked.index(name) + 1})')


def main():
    path = os.path.join(SOURCE, 'data', 'demo', 'demo.onnx')
    with tempfile.TemporaryDirectory() as work:
        prepared = os.path.join(work, 'prepared.onnx')
        subprocess.run([CLI, 'prepare', path, '-o', prepared], check=True, capture_output=True)
        model = onnx.load(prepared)
        shape = [d.dim_value or 1 for d in model.graph.input[0].type.tensor_type.shape.dim]
        data = os.path.join(work, 'data')
        samples = make_samples(data, shape, 10)
        check_weights(work, model, prepared, data, samples)
        layers = [n for n in model.graph.node if n.op_type == 'Conv' and n.input[1] in {i.name for i in model.graph.initializer}]
        for layer in (layers[len(layers) // 4], layers[len(layers) // 2], layers[-2]):
            check_fault(work, model, data, layer)
    print(f'{len(faults)} faults')
    sys.exit(bool(faults))


main()
