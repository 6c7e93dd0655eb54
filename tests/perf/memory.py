#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""memory.py CALIBRATE_RUN

How long a network of 100 MB takes to open once it is in the system's cache; the peak memory of a calibration on 10 and
on 1000 samples; and a network of 3 GB with external data, which must open without reading its weights and calibrate in
less than the size of its file and 1 GB.
"""
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import calibrate
import oracle

WIDTH, LAYERS = 4096, 48     # of the large network: 64 MB a layer
OPEN_GOAL, LARGE_GOAL = 10, 1024


def run_open(program, path):
    """Milliseconds, MB."""
    done = subprocess.run([program, path], capture_output=True, text=True)
    match = re.search(r'open ([\d.]+) ms peak (\d+) MB', done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(done.stderr)
    return float(match.group(1)), float(match.group(2))


def say(what, fact, goal, met):
    print('%-28s %s, goal: %s %s' % (what, fact, goal, 'met' if met else 'MISSED'), flush=True)


def measure_opening(program, work):
    import generate
    for name, make in (('resnet50-shaped', generate.resnet50), ('bert-base-shaped', generate.bert)):
        path = os.path.join(work, name + '.onnx')
        make(path)
        ms, peak = run_open(program, path)
        say(name, 'opening %.0f MB: %.2f ms, %.0f MB in memory' % (os.path.getsize(path) / 1e6, ms, peak),
            'below %d ms' % OPEN_GOAL, ms < OPEN_GOAL)
        os.unlink(path)


def measure_samples(program, work):
    """Many names of the same ten files."""
    import generate
    path, few, many = (os.path.join(work, name) for name in ('net.onnx', 'few', 'many'))
    generate.mobilenetv2(path)
    calibrate.write_samples(few, 10, calibrate.noise)
    os.makedirs(many)
    for i in range(1000):
        os.link(os.path.join(few, 'sample%04d.npy' % (i % 10)), os.path.join(many, 'sample%04d.npy' % i))
    a, b = (calibrate.run_ours(program, path, folder, 'mse')[2] for folder in (few, many))
    say('mobilenetv2-shaped', 'calibrating: 10 samples %.0f MB, 1000 samples %.0f MB' % (a, b), 'the same to 5 %',
        b <= a * 1.05)


def measure_large(program, work):
    import numpy as np
    folder, samples = os.path.join(work, 'large'), os.path.join(work, 'rows')
    os.makedirs(folder)
    size = write_large(os.path.join(folder, 'net.onnx')) / 2**20
    calibrate.write_samples(samples, 4, lambda i: np.random.default_rng(i).normal(0, 1, (1, WIDTH)).astype(np.float32))
    ms, opened = run_open(program, os.path.join(folder, 'net.onnx'))
    say('%.0f MB of external data' % size, 'opening: %.2f ms, %.0f MB in memory' % (ms, opened), 'weights not read',
        opened < 100)
    seconds, _, peak, core = calibrate.run_ours(program, os.path.join(folder, 'net.onnx'), samples, 'minmax')
    say('%.0f MB of external data' % size, 'calibrating 4 samples: %.1f s, %.0f MB [%s]' % (seconds, peak, core),
        'below %.0f MB' % (size + LARGE_GOAL), peak < size + LARGE_GOAL)


def write_large(path):
    """A chain of products; returns the bytes of its weights."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    rng, step = np.random.default_rng(3), WIDTH * WIDTH * 4
    block = rng.standard_normal((WIDTH, WIDTH), np.float32) * np.float32(WIDTH ** -0.5)
    nodes, weights = [], []
    with open(os.path.join(os.path.dirname(path), 'weights.bin'), 'wb') as data:
        for i in range(LAYERS):
            data.write(np.roll(block, i, 0).tobytes())
            w = TensorProto(name='w%d' % i, data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH],
                            data_location=TensorProto.EXTERNAL)
            for key, value in (('location', 'weights.bin'), ('offset', str(i * step)), ('length', str(step))):
                w.external_data.add(key=key, value=value)
            weights.append(w)
            nodes.append(helper.make_node('MatMul', ['x%d' % i if i else 'input', w.name], ['x%d' % (i + 1)]))
    graph = helper.make_graph(nodes, 'large', [helper.make_tensor_value_info('input', TensorProto.FLOAT, [1, WIDTH])],
                              [helper.make_tensor_value_info('x%d' % LAYERS, TensorProto.FLOAT, [1, WIDTH])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    with open(path, 'wb') as out:
        out.write(model.SerializeToString())
    return LAYERS * step


def main():
    oracle.use_oracle_python()
    program, parts = sys.argv[1], sys.argv[2:]
    for name, part in (('opening', measure_opening), ('samples', measure_samples), ('large', measure_large)):
        if not parts or name in parts:
            with tempfile.TemporaryDirectory() as work:
                part(program, work)


if __name__ == '__main__':
    sys.exit(main())
