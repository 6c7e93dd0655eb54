#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""any_size.py CLI: weights of 0.3 GB are rounded within little memory.

A network with the products of a decoder, its weights in a file beside it, is quantized by the presets for small weights, once as
it is and once with 150 MB of memory for data (RLIMIT_DATA). Both write the same bytes: a small model and one file with the
weights. What is in anonymous memory at any time (RssAnon) is 64 MB and one tensor at most. onnxruntime runs what was written.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import oracle

oracle.use_oracle_python()

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDTH, INNER, WORDS, LAYERS = 1024, 4096, 16384, 5
LARGEST = WIDTH * WORDS * 4
LIMIT, ROOM = 150 << 20, 64 << 20
PRESETS = ('w4-matmul', 'w4-mixed', 'w4', 'w8')
SMALL = 1 << 16      # of a model whose weights are beside it


def make_model(folder, width=WIDTH, inner=INNER, words=WORDS, layers=LAYERS):
    rng, constants, at = np.random.default_rng(5), [], 0
    nodes = [helper.make_node('Gather', ['embedding', 'tokens'], ['x0'], 'embed')]
    shapes = {'embedding': (words, width)}
    for i in range(layers):
        shapes |= {f'up{i}': (width, inner), f'down{i}': (inner, width)}
        nodes += [helper.make_node('MatMul', [f'x{i}', f'up{i}'], [f'u{i}'], f'up{i}'),
                  helper.make_node('Relu', [f'u{i}'], [f'r{i}'], f'relu{i}'),
                  helper.make_node('MatMul', [f'r{i}', f'down{i}'], [f'x{i + 1}'], f'down{i}')]
    shapes['head'] = (width, words)
    nodes.append(helper.make_node('MatMul', [f'x{layers}', 'head'], ['logits'], 'head'))
    with open(os.path.join(folder, 'model.onnx.data'), 'wb') as file:
        for name, (rows, columns) in shapes.items():
            tensor = TensorProto(name=name, data_type=1, dims=[rows, columns], data_location=TensorProto.EXTERNAL)
            size = rows * columns * 4
            for key, value in (('location', 'model.onnx.data'), ('offset', at), ('length', size)):
                tensor.external_data.add(key=key, value=str(value))
            constants.append(tensor)
            for first in range(0, rows, 1024):
                some = rng.standard_normal((min(1024, rows - first), columns), np.float32)
                file.write((some / np.float32(rows ** 0.5)).tobytes())
            at += size
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('tokens', 7, ['n'])],
                              [helper.make_tensor_value_info('logits', 1, ['n', words])], constants)
    path = os.path.join(folder, 'model.onnx')
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)
    return path


def run(command, limit):
    """The most anonymous memory, in bytes."""
    def prepare():
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    most, process = 0, subprocess.Popen(command, preexec_fn=prepare, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while process.poll() is None:
        try:
            with open(f'/proc/{process.pid}/status') as status:
                most = max([most] + [int(line.split()[1]) << 10 for line in status if line.startswith('RssAnon')])
        except OSError:
            pass
        time.sleep(0.002)
    if process.returncode != 0:
        sys.exit(process.stdout.read())
    return most


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def main():
    cli, failed = sys.argv[1], 0
    if shutil.disk_usage(tempfile.gettempdir()).free < 4 << 30:
        oracle.skip('less than 4 GB of disk')
    os.environ['VN_NO_VERIFY'] = '1'
    with tempfile.TemporaryDirectory() as folder:
        path = make_model(folder)
        for preset in PRESETS:
            outputs = [os.path.join(folder, kind, 'q.onnx') for kind in ('free', 'limited')]
            most = []
            for output, limit in zip(outputs, (0, LIMIT)):
                os.makedirs(os.path.dirname(output), exist_ok=True)
                most.append(run([cli, 'quantize', path, '--preset', preset, '-t', '2', '-o', output], limit))
            same = all(read(outputs[0] + end) == read(outputs[1] + end) for end in ('', '.data'))
            logits = oracle.open_session(outputs[0]).run(None, {'tokens': np.arange(3)})[0]
            good = (same and max(most) <= ROOM + LARGEST and os.path.getsize(outputs[0]) < SMALL and
                    np.isfinite(logits).all() and logits.std() > 0)
            print('%s %-9s  %4.0f and %3.0f MB of anonymous memory, model %d bytes, %.0f MB beside it, %s'
                  % ('ok' if good else 'not ok', preset, most[0] / 1e6, most[1] / 1e6, os.path.getsize(outputs[0]),
                     os.path.getsize(outputs[0] + '.data') / 1e6, 'the same bytes' if same else 'other bytes'), flush=True)
            failed += not good
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
