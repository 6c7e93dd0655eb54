#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""excluded_weights.py VERNIER_CLI

A rule that leaves a weight in float, by its tensor or by its node, in every preset: the file, read with onnx, has the float32
numbers of the network, and the node reads them; without the rule it does not, or the preset leaves the weight in float anyway.
The other weights become what they were without the rule.
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

WORDS, WIDTH, EXPERTS, STEPS = 64, 64, 2, 3
SKIPPED = {'float'}                 # nothing is quantized
ALWAYS = {'w8': {'table', 'first', 'gemm', 'conv', 'turned', 'fc1'}, 'w4': {'table', 'first', 'gemm', 'conv', 'turned', 'fc1'},
          'w4-matmul': {'first', 'second', 'gemm', 'fc1'}, 'w4-mixed': {'first', 'second', 'gemm', 'fc1'},
          'dynamic': {'first', 'gemm', 'lstm', 'recurrent'}, 'cpu': {'first', 'gemm', 'conv', 'turned'}, 'qlinear': {'first'},
          'fp16': {'first', 'gemm', 'conv'}, 'bf16-weights': {'table', 'first', 'gemm', 'conv', 'turned', 'lstm', 'recurrent'}}
# what has to stay float with it: an operator reads both
TOGETHER = {'fc1': {'fc2'}, 'lstm': {'recurrent'}, 'recurrent': {'lstm'}}
NODES = {'first': 'matmul', 'second': 'matmul2', 'gemm': 'gemm_node', 'table': 'gather', 'conv': 'conv_node',
         'turned': 'turned_node',
         'fc1': 'experts', 'lstm': 'lstm_node', 'recurrent': 'lstm_node'}
BLOCKS = [('blocks in pairs', ['--preset', 'cpu', '--block-size', '32', '--weight', 's4'], {'first', 'gemm'}),
          ('packed tables', ['--preset', 'w4-matmul', '--packed-tables'], {'table', 'first', 'gemm', 'fc1'}),
          ('integer operands', ['--preset', 'dynamic', '--dynamic=false'], {'first'})]
cli = os.path.abspath(sys.argv[1])
compared, failed = 0, 0


def check(what, good, more=''):
    global compared, failed
    compared += 1
    failed += not good
    if not good:
        print('not ok', what, more, flush=True)


def make_model(path):
    rng = np.random.default_rng(7)

    def floats(*shape):
        return (rng.standard_normal(shape) / 8).astype(np.float32)

    weights = {'table': floats(WORDS, WIDTH), 'first': floats(WIDTH, WIDTH), 'second': floats(WIDTH, WIDTH),
               'gemm': floats(WIDTH, WIDTH),
               'conv': floats(32, WIDTH, 1), 'turned': floats(32, WIDTH, 1), 'fc1': floats(EXPERTS, WIDTH, WIDTH),
               'fc2': floats(EXPERTS, WIDTH, WIDTH), 'lstm': floats(1, 4 * 16, WIDTH), 'recurrent': floats(1, 4 * 16, 16)}
    others = {'bias': floats(WIDTH), 'router': floats(WIDTH, EXPERTS), 'rows': np.array([-1, WIDTH]),
              'columns': np.array([1, WIDTH, -1]), 'sequence': np.array([-1, 1, WIDTH])}
    n = helper.make_node
    nodes = [n('Gather', ['table', 'ids'], ['x'], 'gather'), n('MatMul', ['x', 'first'], ['a'], 'matmul'),
             n('Tanh', ['a'], ['b']), n('MatMul', ['b', 'second'], ['c'], 'matmul2'), n('Relu', ['c'], ['c2']),
             n('Gemm', ['c2', 'gemm', 'bias'], ['d'], 'gemm_node', transB=1),
             n('MatMul', ['d', 'router'], ['r'], 'router_node'),
             n('MoE', ['d', 'r', 'fc1', '', 'fc2'], ['e'], 'experts', domain='com.microsoft', k=1, activation_type='relu'),
             n('Reshape', ['e', 'columns'], ['f'], 'fold'), n('Conv', ['f', 'conv'], ['g'], 'conv_node'),
             n('ConvTranspose', ['g', 'turned'], ['h'], 'turned_node'), n('Reshape', ['h', 'sequence'], ['i'], 'unfold'),
             n('LSTM', ['i', 'lstm', 'recurrent'], ['j'], 'lstm_node', hidden_size=16)]
    constants = [numpy_helper.from_array(a, name) for name, a in {**weights, **others}.items()]
    graph = helper.make_graph(nodes, 'all', [helper.make_tensor_value_info('ids', TensorProto.INT64, [STEPS])],
                              [helper.make_tensor_value_info('j', TensorProto.FLOAT, None)], constants)
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21),
                                                                    helper.make_opsetid('com.microsoft', 1)]), path)
    return weights


def quantize(path, out, options, rule):
    more = ['--rule', json.dumps(rule)] if rule else []
    return subprocess.run([cli, 'quantize', path, '-o', out, '--data', 'random', '-n', '2', '--skip-compare', '--json', *options,
                           *more], capture_output=True, text=True, env={**os.environ, 'VN_NO_VERIFY': '1'})


def find_floats(path, weights):
    """Names of weights that a node multiplies by, or looks up in, as the float32 numbers that they were."""
    model = onnx.load(path)
    onnx.checker.check_model(model)
    kinds = {'MatMul', 'Gemm', 'Gather', 'Conv', 'ConvTranspose', 'MoE', 'LSTM', 'Transpose'}
    read = {name for node in model.graph.node if node.op_type in kinds for name in node.input}
    held = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer
            if t.data_type == TensorProto.FLOAT and t.name in read}

    def is_same(a, b):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return {name for name, w in weights.items()
            if any(is_same(w, h) or (w.ndim == 2 and is_same(w.T.copy(), h)) for h in held.values())}


def check_run(work, path, weights, label, options, always):
    out = os.path.join(work, 'out.onnx')
    done = quantize(path, out, options, None)
    if done.returncode != 0:
        check(label, not always, done.stderr.strip())
        return
    floats = find_floats(out, weights)
    check(label + ': weights that the format has', not always & floats, f'float: {sorted(always & floats)}')
    for name in sorted(set(weights) - floats - {'fc2'}):
        for kind, rule in (('tensor', {'tensors': [name], 'exclude': True}),
                           ('glob', {'tensors': [name[:-1] + '?'], 'exclude': True}),
                           ('node', {'nodes': NODES[name], 'exclude': True})):
            done = quantize(path, out, options, rule)
            if done.returncode != 0:
                check(f'{label}, {name} by {kind}', False, done.stderr.strip())
                continue
            found = find_floats(out, weights)
            wanted = floats | {name} | (TOGETHER.get(name, set()) - floats)
            check(f'{label}, {name} by {kind}', name in found)
            check(f'{label}, others than {name} by {kind}', found <= wanted, f'float too: {sorted(found - wanted)}')


def main():
    listed = subprocess.run([cli, 'list', 'presets', '--json'], capture_output=True, text=True, check=True).stdout
    presets = [entry['id'] for entry in json.loads(listed)['presets']]
    missing = sorted(set(ALWAYS) - set(presets))
    check('presets are there', not missing, str(missing))
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, 'in.onnx')
        weights = make_model(path)
        for preset in presets if len(sys.argv) < 3 else sys.argv[2:]:
            if preset not in SKIPPED:
                check_run(work, path, weights, preset, ['--preset', preset], ALWAYS.get(preset, set()))
        for label, options, always in BLOCKS:
            check_run(work, path, weights, label, options, always)
    print(f'{compared} compared, {failed} failed')
    sys.exit(failed > 0 or compared < 100)


if __name__ == '__main__':
    main()
