#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantized_experts.py VERNIER_CLI ENGINE_RUN

Networks with mixtures of experts, as MoE and as products of rows that are gathered for each expert, quantized in the formats
for weights: what is written passes the checker, has QMoE of the bits and blocks that are asked for, and computes in onnxruntime
what the engine computes; second-order rounding leaves less divergence than rounding to nearest, and names the expert that no
token goes to.
"""
import json
import os
import subprocess
import sys
import tempfile

import networks
import oracle

LIMIT = 1e-5                    # of the largest output
ROUNDED_LIMIT, TIES = 5e-2, 0.15      # by how much tokens may differ where sums are rounded to 8 bits, and how many of them
WORDS, TOKENS, SAMPLES = 32, 48, 12
EXPERTS, DEAD = 4, 2
# activation, normalized, elements of a token and between the products, biases
NETWORKS = {'swiglu': ('swiglu', 1, 64, 96, True), 'gelu': ('gelu', 0, 64, 32, False), 'odd': ('silu', 1, 40, 72, True),
            'plain': (None, 1, 32, 64, False)}
RULE = '{"tensors": ["*1.fc2"], "weight": "uint8"}'
# options; bits, block and level that QMoE has, by network: all, or of those whose rows no block fills
RUNS = {'w8': (['--preset', 'w8'], (8, 0, 0), (8, 0, 0)),
        'w4': (['--preset', 'w4'], (4, 32, 4), (8, 0, 0)),
        'w4-matmul': (['--preset', 'w4-matmul'], (4, 32, 4), (8, 0, 0)),
        'level 0': (['--preset', 'w4-matmul', '--accuracy-level', '0'], (4, 32, 0), (8, 0, 0)),
        'w4-mixed': (['--preset', 'w4-mixed', '--block-size', '16'], (4, 16, 4), (8, 0, 0)),
        'symmetric': (['--preset', 'w4-matmul', '--symmetric-weights=true'], (4, 32, 4), (8, 0, 0)),
        '8 bit': (['--preset', 'w4-matmul', '--weight', 'uint8', '--block-size', '64'], (8, 32, 4), (8, 0, 0)),
        'k-quant': (['--preset', 'w4-matmul', '--block-method', 'k-quant'], (4, 32, 4), (8, 0, 0)),
        'rule': (['--preset', 'w4-matmul', '--rule', RULE], (8, 32, 4), (8, 0, 0)),
        'second-order': (['--preset', 'w4-matmul', '--rounding', 'second-order'], (4, 32, 4), (8, 0, 0))}


class Graph:
    def __init__(self, seed):
        import numpy as np
        self.np, self.rng, self.nodes, self.constants = np, np.random.default_rng(seed), [], []

    def add(self, name, array):
        from onnx import numpy_helper
        self.constants.append(numpy_helper.from_array(self.np.asarray(array), name))
        return name

    def floats(self, name, *shape, scale=1.0):
        return self.add(name, (self.rng.standard_normal(shape) * scale).astype(self.np.float32))

    def op(self, kind, inputs, output, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output


def add_experts(g, p, x, router, activation, normalize, hidden, inter, bias):
    factor = 2 if activation == 'swiglu' else 1
    inputs = [x, router, g.floats(p + 'fc1', EXPERTS, factor * inter, hidden, scale=hidden ** -0.5),
              g.floats(p + 'fc1.bias', EXPERTS, factor * inter, scale=0.1) if bias else '',
              g.floats(p + 'fc2', EXPERTS, hidden, inter, scale=inter ** -0.5)]
    inputs += [g.floats(p + 'fc2.bias', EXPERTS, hidden, scale=0.1)] if bias else []
    more = {'swiglu_fusion': 1, 'activation_alpha': 1.702, 'activation_beta': 1.0, 'swiglu_limit': 7.0} if factor == 2 else {}
    return g.op('MoE', inputs, p + 'experts', domain='com.microsoft', k=2, activation_type=activation,
                normalize_routing_weights=normalize, **more)


def add_plain_experts(g, p, x, router, hidden, inter):
    """As exported from loops over experts: the rows of each are gathered, and what comes of them is added where they were."""
    from onnx import TensorProto, helper
    np = g.np
    g.op('Softmax', [router], p + 'shares', axis=-1)
    g.nodes.append(helper.make_node('TopK', [p + 'shares', g.add(p + 'k', np.array([2]))], [p + 'top', p + 'which'], p + 'topk'))
    one, zero = g.add(p + 'one', np.array([1])), g.add(p + 'zero', np.array([0]))
    sum_ = g.op('Mul', [x, g.add(p + 'none', np.float32(0))], p + 'sum')
    for e in range(EXPERTS):
        q = '%s%d.' % (p, e)
        chosen = g.op('Equal', [p + 'which', g.add(q + 'number', np.int64(e))], q + 'is')
        g.op('Cast', [chosen], q + 'mask', to=TensorProto.FLOAT)
        share = g.op('ReduceSum', [g.op('Mul', [p + 'top', q + 'mask'], q + 'masked'), one], q + 'share')
        found = g.op('NonZero', [g.op('ReduceSum', [q + 'mask', one], q + 'any', keepdims=0)], q + 'found')
        rows = g.op('Squeeze', [found, zero], q + 'rows')
        g.op('Gather', [x, rows], q + 'x')
        h = g.op('MatMul', [q + 'x', g.floats(q + 'fc1', hidden, inter, scale=hidden ** -0.5)], q + 'h')
        a = g.op('Mul', [h, g.op('Sigmoid', [h], q + 'gate')], q + 'a')
        y = g.op('MatMul', [a, g.floats(q + 'fc2', inter, hidden, scale=inter ** -0.5)], q + 'y')
        y = g.op('Mul', [y, g.op('Gather', [share, rows], q + 'own')], q + 'weighted')
        sum_ = g.op('ScatterND', [sum_, g.op('Unsqueeze', [rows, one], q + 'at'), y], q + 'sum', reduction='add')
    return sum_


def make_model(path, kind, seed):
    import onnx
    from onnx import TensorProto, helper
    activation, normalize, hidden, inter, bias = NETWORKS[kind]
    g = Graph(seed)
    x = g.op('Gather', [g.floats('table', WORDS, hidden), 'ids'], 'x')
    for layer in range(2):
        p = 'layer%d.' % layer
        t = g.op('Tanh', [g.op('MatMul', [x, g.floats(p + 'w', hidden, hidden, scale=hidden ** -0.5)], p + 'p')], p + 't')
        away = g.np.zeros(EXPERTS, g.np.float32)
        away[DEAD] = -1000
        router = g.op('MatMul', [t, g.floats(p + 'router', hidden, EXPERTS, scale=hidden ** -0.5 * 3)], p + 'r')
        router = g.op('Add', [router, g.add(p + 'away', away)], p + 'logits')
        y = add_experts(g, p, t, router, *NETWORKS[kind]) if activation else add_plain_experts(g, p, t, router, hidden, inter)
        x = g.op('Add', [x, y], p + 'x')
    g.op('MatMul', [x, g.floats('head', hidden, WORDS, scale=hidden ** -0.5)], 'words')
    graph = helper.make_graph(g.nodes, kind, [helper.make_tensor_value_info('ids', TensorProto.INT64, ['n'])],
                              [helper.make_tensor_value_info('words', TensorProto.FLOAT, ['n', WORDS])], g.constants)
    opsets = [helper.make_opsetid('', 21), helper.make_opsetid('com.microsoft', 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def get_divergence(wanted, found):
    import numpy as np
    p, q = (np.exp(y.astype(np.float64) - y.max(axis=1, keepdims=True)) for y in (wanted, found))
    p, q = (y / y.sum(axis=1, keepdims=True) for y in (p, q))
    return float((p * np.log(p / q)).sum(axis=1).mean())


def find_wrong_nodes(model, kind, wanted):
    """(bits, block, level) of QMoE."""
    found = [{a.name: a.i for a in n.attribute} for n in model.graph.node if n.op_type == 'QMoE']
    found = [(a['expert_weight_bits'], a.get('block_size', 0), a.get('accuracy_level', 0)) for a in found]
    expected = [] if kind == 'plain' else [wanted] * 2
    if kind != 'plain' and wanted[0] == 8 and wanted != (8, 0, 0) and len(found) == 2 and found[0] != found[1]:
        expected = [found[0], wanted]       # a rule for the second one
    return '' if found == expected else 'QMoE of %s, not %s' % (found, expected)


def find_fault(cli, engine, work, kind, name):
    """What is wrong, and the divergence from the float network."""
    import numpy as np
    import onnx

    path, out = os.path.join(work, kind + '.onnx'), os.path.join(work, 'small.onnx')
    options, whole, odd = RUNS[name]
    run = subprocess.run([cli, 'quantize', path, '-o', out, '--data', os.path.join(work, 'ids'), '--skip-compare', '--no-verify',
                          '--json', *options], capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip() or 'exit code %d' % run.returncode, 0
    model = onnx.load(out)
    onnx.checker.check_model(model)
    fault = find_wrong_nodes(model, kind, odd if kind == 'odd' else whole)
    notes = [n for n in json.loads(run.stdout)['report']['notes'] if n['code'] in ('experts-unreached', 'layer-unreached')]
    if len(notes) != (0 if name != 'second-order' else 4 if kind == 'plain' else 2) or \
       any(('%d.' if kind == 'plain' else ': %d (1 of') % DEAD not in n['text'] for n in notes):
        fault = fault or 'it names %s' % [n['text'] for n in notes]
    ids = np.random.default_rng(99).integers(0, WORDS, 4 * TOKENS)
    float_session, session = networks.make_session(path, False), networks.make_session(out, False)
    wanted = session.run(None, {'ids': ids})[0]
    found = networks.run_engine(engine, out, {'ids': ids})['words']
    off = np.abs(wanted - found).max(axis=1) / np.abs(wanted).max()
    if not np.isfinite(found).all() or (off > LIMIT).mean() > TIES or off.max() > ROUNDED_LIMIT:
        fault = fault or 'the engine computes something else for %d tokens, %.1e' % ((off > LIMIT).sum(), off.max())
    return fault, get_divergence(float_session.run(None, {'ids': ids})[0], wanted)


def main():
    oracle.use_oracle_python()
    import numpy as np
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    compared = failed = 0
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, 'ids'))
        for i in range(SAMPLES):
            np.save(os.path.join(work, 'ids', '%02d.npy' % i), np.random.default_rng(i).integers(0, WORDS, TOKENS))
        for seed, kind in enumerate(NETWORKS):
            make_model(os.path.join(work, kind + '.onnx'), kind, seed)
            divergence = {}
            for name in RUNS:
                fault, divergence[name] = find_fault(sys.argv[1], sys.argv[2], work, kind, name)
                if name == 'second-order' and not fault and divergence[name] >= divergence['w4-matmul']:
                    fault = 'no better than rounding to nearest'
                compared, failed = compared + 1, failed + (fault != '')
                print('%-8s %-14s divergence %.5f  %s' % (kind, name, divergence[name], fault), flush=True)
    print('%d compared, %d bad' % (compared, failed))
    sys.exit(1 if failed or not compared else 0)


if __name__ == '__main__':
    main()
