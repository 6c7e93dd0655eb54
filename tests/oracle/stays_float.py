#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""stays_float.py VERNIER_CLI: what “inspect --presets” tells before a run is what the run writes.

The size is that of the file; an operator of which is said that it stays in float reads float32 weights in the file, read by onnx,
and the others do not; presets that need no samples stand first for networks that read no images, and there alone.
"""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

cli = sys.argv[1]
PRESETS = ['cpu', 'qlinear', 'dynamic', 'int16', 'bf16', 'w8', 'w4', 'fp16', 'bf16-weights']
SAME = 0.002          # of the size: where ranges have a part in it
failed = compared = 0
rng = np.random.default_rng(3)


def check(what, good):
    global failed, compared
    compared += 1
    if not good:
        print('not ok', what)
        failed += 1


def weight(name, *shape):
    return numpy_helper.from_array(rng.normal(0, 0.3, shape).astype(np.float32), name)


def save(path, nodes, inputs, outputs, weights):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'g', [info(*each) for each in inputs], [info(*each) for each in outputs], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def make_recurrent(path):
    """Most of its weights are those of a recurrent layer."""
    nodes = [helper.make_node('LSTM', ['x', 'w', 'r'], ['s'], 'recurrent', hidden_size=64),
             helper.make_node('Squeeze', ['s', 'axes'], ['t']),
             helper.make_node('MatMul', ['t', 'm'], ['u'], 'product'), helper.make_node('Sigmoid', ['u'], ['y'], 'gate')]
    save(path, nodes, [('x', TensorProto.FLOAT, [9, 1, 40])], [('y', TensorProto.FLOAT, [9, 1, 12])],
         [weight('w', 1, 256, 40), weight('r', 1, 256, 64), weight('m', 64, 12),
          numpy_helper.from_array(np.array([1], np.int64), 'axes')])


def make_tokens(path):
    nodes = [helper.make_node('Gather', ['table', 'input_ids'], ['e'], 'look-up'), helper.make_node('MatMul', ['e', 'm'], ['h']),
             helper.make_node('Erf', ['h'], ['k'], 'odd'), helper.make_node('MatMul', ['k', 'n'], ['y'])]
    save(path, nodes, [('input_ids', TensorProto.INT64, [1, 16])], [('y', TensorProto.FLOAT, [1, 16, 8])],
         [weight('table', 300, 32), weight('m', 32, 64), weight('n', 64, 8)])


def make_images(path):
    nodes = [helper.make_node('Conv', ['x', 'w'], ['a'], pads=[1] * 4), helper.make_node('Relu', ['a'], ['b']),
             helper.make_node('Conv', ['b', 'v'], ['y'])]
    save(path, nodes, [('x', TensorProto.FLOAT, [1, 3, 32, 32])], [('y', TensorProto.FLOAT, [1, 8, 32, 32])],
         [weight('w', 16, 3, 3, 3), weight('v', 8, 16, 1, 1)])


def list_float_readers(path):
    """Types of operators that read float32 weights of more than one row in a file."""
    model = onnx.load(path)
    constants = {each.name: each for each in model.graph.initializer}
    return {node.op_type for node in model.graph.node for name in node.input
            if name in constants and constants[name].data_type == TensorProto.FLOAT and len(constants[name].dims) > 1
            and np.prod(constants[name].dims) > 200 and 'uantizeLinear' not in node.op_type}


def run(*arguments):
    done = subprocess.run([cli, *arguments, '--json'], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def examine(folder, name, make, n_suggested):
    path, written = os.path.join(folder, name + '.onnx'), os.path.join(folder, 'out.onnx')
    make(path)
    told = run('inspect', path, '--presets')
    presets = {each['preset']: each for each in told['presets']}
    check(f'{name}: {told["suggested_presets"]} stand first', told['suggested_presets'] == n_suggested)
    first = [each['preset'] for each in told['presets'][:2]]
    check(f'{name}: first are {first}', (first == ['dynamic', 'w8']) == (n_suggested > 0))
    for preset in PRESETS:
        each = presets[preset]
        run('quantize', path, '-o', written, '--preset', preset, '--data', 'random', '--samples', '4', '--no-verify',
            '--skip-compare')
        size, before = os.path.getsize(written), os.path.getsize(path)
        check(f'{name} {preset}: {each["quantized_bytes"]} of {size} bytes', abs(each['quantized_bytes'] / size - 1) < SAME)
        check(f'{name} {preset}: {each["float_bytes"]} of {before} bytes before', each['float_bytes'] == before)
        kept = {kind['type'] for kind in each['float'] if kind['weight_bytes'] > 800}
        # float16 and bfloat16 have no float32 weights at all; what is looked up has, where products alone are quantized
        check(f'{name} {preset}: {kept} told, {list_float_readers(written)} written', kept == list_float_readers(written))
    return presets


with tempfile.TemporaryDirectory() as folder:
    recurrent = examine(folder, 'recurrent', make_recurrent, 2)
    examine(folder, 'tokens', make_tokens, 2)
    examine(folder, 'images', make_images, 0)
    ratio = {name: each['float_bytes'] / each['quantized_bytes'] for name, each in recurrent.items() if 'error' not in each}
    check(f'the recurrent layer wins {ratio}', ratio['cpu'] < 1.1 and ratio['w8'] < 1.1 and ratio['dynamic'] > 3)
print(f'{compared - failed} of {compared} agree')
sys.exit(failed > 0 or compared < 80)
