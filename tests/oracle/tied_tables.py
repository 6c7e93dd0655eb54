#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tied_tables.py CLI: a table that a network looks up in and, transposed, multiplies by is stored once.

Folding makes a second constant of the transposed table. Where both stay float, in every format and from “prepare”, the file holds
one of them and a Transpose, is as large as is told, and onnxruntime computes the same bits as with two constants. A head that is
quantized is not float, and matrices that differ in one number are two.
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

WORDS, WIDTH = 512, 128
failed = compared = 0
cli = os.path.abspath(sys.argv[1])


def check(what, good):
    global failed, compared
    compared += 1
    print('ok' if good else 'not ok', what, flush=True)
    failed += not good


def save(path, tied, head_first=False):
    rng = np.random.default_rng(1)
    table = rng.standard_normal((WORDS, WIDTH)).astype(np.float32)
    constants = {'table': table, 'w': (rng.standard_normal((WIDTH, WIDTH)) / 16).astype(np.float32)}
    nodes = [helper.make_node('Gather', ['table', 'ids'], ['x'], 'gather'),
             helper.make_node('MatMul', ['x', 'w'], ['h'], 'hidden'), helper.make_node('Add', ['x', 'h'], ['y'], 'add')]
    if tied == 'transposed':
        nodes.append(helper.make_node('Transpose', ['table'], ['head'], 'turn', perm=[1, 0]))
    else:
        head = table.T.copy()
        head[-1, -1] += tied == 'other'
        constants = {'head': head, **constants} if head_first else {**constants, 'head': head}
    nodes.append(helper.make_node('MatMul', ['y', 'head'], ['logits'], 'lm_head'))
    graph = helper.make_graph(nodes, 'decoder', [helper.make_tensor_value_info('ids', TensorProto.INT64, [1, 'n'])],
                              [helper.make_tensor_value_info('logits', TensorProto.FLOAT, [1, 'n', WORDS])],
                              [numpy_helper.from_array(a, n) for n, a in constants.items()])
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)]), path)


def count_large(model):
    return sum(np.prod(tensor.dims) == WORDS * WIDTH and tensor.data_type in
               (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16) for tensor in model.graph.initializer)


def split(path):
    """The file with the transposed table as a constant of its own."""
    model = onnx.load(path)
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in [node for node in model.graph.node if node.op_type == 'Transpose' and node.input[0] in held]:
        model.graph.initializer.append(numpy_helper.from_array(held[node.input[0]].T.copy(), node.output[0]))
        model.graph.node.remove(node)
    return model.SerializeToString()


def run(model):
    return oracle.open_session(model).run(None, {'ids': np.array([[3, 1, 4, 1, 500]])})[0]


def call(*arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True, env={**os.environ, 'VN_NO_VERIFY': '1'})


def main():
    without_head = ['--exclude', 'lm_head']
    # preset, options; how often it is stored if it is one, and if it is two
    cases = [('fp16', [], 1, 2), ('bf16-weights', [], 1, 2), ('w4-matmul', without_head, 1, 2),
             ('w4-matmul', [*without_head, '--float-type', 'float16'], 1, 2),
             ('w4-matmul', [*without_head, '--float-type', 'bfloat16'], 1, 2), ('w4-matmul', [], 1, 1),
             ('w8', without_head, 1, 1), ('w4', without_head, 1, 1), ('w8', [], 0, 0), (None, [], 1, 2)]
    with tempfile.TemporaryDirectory() as work:
        path, out = os.path.join(work, 'in.onnx'), os.path.join(work, 'out.onnx')
        for tied, head_first in (('transposed', False), ('same', False), ('same', True), ('other', False)):
            save(path, tied, head_first)
            for preset, options, *times in cases:
                what = f'{tied} {"" if not head_first else "head first "}{preset or "prepare"} {" ".join(options)}'
                done = call('prepare', path, '-o', out) if preset is None else \
                    call('quantize', path, '-o', out, '--preset', preset, '--json', *options)
                if done.returncode != 0:
                    check(f'{what}: {done.stderr}', False)
                    continue
                model = onnx.load(out)
                onnx.checker.check_model(model, full_check=True)
                n = times[tied == 'other']
                check(f'{what}: stored {n} times', count_large(model) == n)
                turned = [node.output[0] for node in model.graph.node if node.op_type == 'Transpose']
                check(f'{what}: the table is what is stored', not {n for node in model.graph.node if node.op_type == 'Gather'
                                                                   for n in node.input} & set(turned))
                if 'bfloat16' not in options:    # onnxruntime has no kernels for it
                    check(f'{what}: same bits', run(out).tobytes() == run(split(out)).tobytes())
                if preset is not None:
                    told = json.loads(done.stdout)['report']['sizes']['quantized_bytes']
                    check(f'{what}: {told} bytes are told', told == os.path.getsize(out))
    print(f'{compared} compared, {failed} failed')
    sys.exit(failed > 0 or compared == 0)


if __name__ == '__main__':
    main()
