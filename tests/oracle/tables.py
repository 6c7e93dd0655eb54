#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tables.py VERNIER_CLI ENGINE_RUN

Tables of embeddings in blocks. Small networks with a table and a head, the same matrix or another one, are stored with
packed-tables in each number of bits: what is written must pass the checker, load in onnxruntime, compute there what the engine
computes, and hold a matrix that two nodes share once.
"""
import os
import subprocess
import sys
import tempfile

import networks
import oracle

INNER_DB = 100
RUNS = {'8 bit': [], '4 bit': ['--wide-tables=false'], '2 bit': ['--wide-tables=false', '--weight', 'uint2'],
        'signed': ['--symmetric-weights=true'],
        'signed, 2 bit': ['--wide-tables=false', '--weight', 'int2', '--symmetric-weights=true'],
        'k-quant': ['--wide-tables=false', '--block-size', '16', '--block-method', 'k-quant'],
        'rule': ['--rule', '{"nodes": "head", "weight": "uint4"}']}
# rows and columns of the table; how the head has it; whether blocks fill its rows
HEADS = {'transposed': (50, 64, True), 'gemm': (50, 64, True), 'copy': (51, 64, True), 'other': (50, 64, False),
         'transposed, partial blocks': (50, 100, False), 'gemm, partial blocks': (50, 36, False)}


def make_model(path, rows, columns, head):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(rows)
    table = rng.standard_normal((rows, columns), np.float32)
    constants = {'table': table, 'inner': rng.standard_normal((columns, columns), np.float32) / np.float32(columns ** 0.5)}
    nodes = [helper.make_node('Gather', ['table', 'ids'], ['x'], 'embed'),
             helper.make_node('MatMul', ['x', 'inner'], ['h'], 'middle')]
    if head == 'gemm':
        constants['sizes'] = np.array([-1, columns])
        nodes += [helper.make_node('Reshape', ['h', 'sizes'], ['flat'], 'flatten'),
                  helper.make_node('Gemm', ['flat', 'table'], ['logits'], 'head', transB=1)]
    elif head == 'transposed':
        nodes += [helper.make_node('Transpose', ['table'], ['turned'], 'turn', perm=[1, 0]),
                  helper.make_node('MatMul', ['h', 'turned'], ['logits'], 'head')]
    else:
        constants['words'] = np.ascontiguousarray(table.T) if head == 'copy' else rng.standard_normal((columns, rows), np.float32)
        nodes += [helper.make_node('MatMul', ['h', 'words'], ['logits'], 'head')]
    values = [helper.make_tensor_value_info('ids', TensorProto.INT64, ['batch', 'length']),
              helper.make_tensor_value_info('logits', TensorProto.FLOAT,
                                            ['n', rows] if head == 'gemm' else ['batch', 'length', rows])]
    graph = helper.make_graph(nodes, 'tables', values[:1], values[1:],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)


def find_fault(cli, engine, path, out, options, shared, rows):
    import numpy as np
    import onnx

    run = subprocess.run([cli, 'quantize', path, '-o', out, '--preset', 'w4-mixed', '--accuracy-level', '0', '--skip-compare',
                          '--no-verify', *options], capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip()
    model = onnx.load(out)
    onnx.checker.check_model(model)
    types = [n.op_type for n in model.graph.node]
    if types.count('GatherBlockQuantized') != 1 or types.count('MatMulNBits') != 2 or 'Gather' in types:
        return 'it has ' + ' '.join(types)
    large = [i.name for i in model.graph.initializer if i.data_type == onnx.TensorProto.UINT8 and rows in i.dims[:1]
             and int(np.prod(i.dims[1:])) > 8]
    if len(large) != (1 if shared else 2):
        return 'it stores ' + ' '.join(large)
    session, ids = networks.make_session(out, False), np.random.default_rng(0).integers(0, rows, (2, 7))
    wanted, found = session.run(None, {'ids': ids})[0], networks.run_engine(engine, out, {'ids': ids})['logits']
    noise = float(np.sum((wanted.astype(np.float64) - found) ** 2))
    db = 10 * np.log10(float(np.sum(wanted.astype(np.float64) ** 2)) / max(noise, 1e-300))
    return '' if wanted.shape == found.shape and db >= INNER_DB else 'the engine computes something else: %.1f dB' % db


def main():
    oracle.use_oracle_python()
    compared = failed = 0
    with tempfile.TemporaryDirectory() as work:
        path, out = os.path.join(work, 'float.onnx'), os.path.join(work, 'small.onnx')
        for head, (rows, columns, tied) in HEADS.items():
            make_model(path, rows, columns, head.split(',')[0])
            for name, options in RUNS.items():
                try:
                    fault = find_fault(sys.argv[1], sys.argv[2], path, out, options,
                                       tied and (name != 'rule' or head == 'gemm'), rows)
                except Exception as error:
                    fault = str(error)[:300]
                compared, failed = compared + 1, failed + (fault != '')
                print('%-28s %-14s %s' % (head, name, fault), flush=True)
    print('%d compared, %d bad' % (compared, failed))
    sys.exit(1 if failed or not compared else 0)


if __name__ == '__main__':
    main()
