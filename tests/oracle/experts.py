#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""experts.py ENGINE_RUN

Mixtures of experts: MoE, and QMoE of 2, 4 and 8 bits, in rows and blocks, with and without zero points and with accuracy_level 4;
each with every activation, number of experts for a token, normalizing, biases and shares of its own. The engine computes what
onnxruntime does. Where both round to integers of 8 bits what they multiply by, a number between two of them may go to either: of
such formats few tokens may differ, by little. What onnxruntime refuses, the engine must refuse as well.
"""
import itertools
import os
import sys
import tempfile

import networks
import oracle

OPERATORS = {True: 'QMoE', False: 'MoE'}    # by whether weights are integers
LIMIT = 1e-5                    # of the largest output
HALF_LIMIT = 3e-3               # float16, which onnxruntime rounds to between the products as well
ROUNDED_LIMIT, TIES = 2e-2, 0.05      # by how much tokens may differ where something is rounded, and how many of them
EXPERTS, TOKENS = 5, 12
SIZES = [(64, 96), (48, 64), (96, 40)]    # of the last, blocks of 16 are not full
ACTIVATIONS = ['relu', 'gelu', 'silu', 'identity', 'swiglu']
SWIGLU = [{}, {'swiglu_limit': 0.5, 'activation_alpha': 1.702, 'activation_beta': 1.0}]
FORMATS = [(0, 0, False, 0)] + \
          [(bits, block, zeros, level) for bits in (2, 4, 8) for block in (0, 16, 32) for zeros in (False, True)
           for level in ((0, 4) if bits == 4 and block else (0,))]
WIDE = [(bits, block, zeros, level) for bits, level in ((4, 0), (4, 4), (8, 0)) for block in (128, 256, 512)
        for zeros in (False, True)]
WIDE_SIZE = (512, 256)
DRAWN = 10      # of all ways to route and activate, for each format
# Attributes, inputs and shapes that nothing can be computed with.
BAD = [({'k': 6}, {}), ({'k': 0}, {}), ({'activation_type': 'tanh'}, {}), ({'activation_type': 'swiglu'}, {}),
       ({'block_size': 24}, {}), ({}, {'w1': (5, 96, 16)}), ({}, {'w2': (4, 64, 48)}), ({}, {'s1': (5, 95)}),
       ({}, {'s2': (1, 64)})]


def pack(numbers, bits):
    import numpy as np
    per = 8 // bits
    n = -(-numbers.shape[-1] // per) * per
    full = np.zeros(numbers.shape[:-1] + (n,), np.uint8)
    full[..., :numbers.shape[-1]] = numbers
    packed = np.zeros(full.shape[:-1] + (n // per,), np.uint8)
    for i in range(per):
        packed |= full[..., i::per] << (i * bits)
    return packed


def make_weight(rng, rows, columns, form):
    """name suffix -> array"""
    import numpy as np
    bits, block, zeros, _ = form
    if not bits:
        return {'w': (rng.standard_normal((EXPERTS, rows, columns)) * 0.3).astype(np.float32)}
    shape = (EXPERTS, rows) + ((-(-columns // block),) if block else ())
    made = {'w': pack(rng.integers(0, 1 << bits, (EXPERTS, rows, columns)).astype(np.uint8), bits),
            's': (rng.uniform(0.2, 1, shape) * 0.6 / (1 << bits)).astype(np.float32)}
    if zeros:
        made['z'] = pack(rng.integers(0, 1 << bits, shape).astype(np.uint8), bits)
    return made


def list_ways(form, rng):
    ways = list(itertools.product(ACTIVATIONS, (1, 2, EXPERTS), (0, 1), (False, True), (False, True) if form[0] else (False,),
                                  SWIGLU))
    ways = [w for w in ways if w[0] == 'swiglu' or w[5] is SWIGLU[0]]
    return ways if form[0] == 0 else [ways[i] for i in rng.permutation(len(ways))[:DRAWN]]


def make_node(form, way, names, output):
    from onnx import helper
    bits, block, _, level = form
    activation, k, normalize, _, _, more = way
    attributes = dict(k=k, activation_type=activation, normalize_routing_weights=normalize, **more)
    if activation == 'swiglu':
        attributes['swiglu_fusion'] = 1
    if bits:
        attributes['expert_weight_bits'] = bits
    if block:
        attributes['block_size'] = block
    if level:
        attributes['accuracy_level'] = level
    order = (['x', 'r', 'w1', 's1', 'b1', 'w2', 's2', 'b2', '', '', '', 'z1', 'z2', '', 'shares'] if bits
             else ['x', 'r', 'w1', 'b1', 'w2', 'b2'])
    inputs = [names.get(n, '') for n in order]
    while not inputs[-1]:
        inputs.pop()
    return helper.make_node(OPERATORS[bits > 0], inputs, [output], domain='com.microsoft', **attributes)


def save_model(path, graph):
    from onnx import helper, save
    opsets = [helper.make_opsetid('', 21), helper.make_opsetid('com.microsoft', 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def make_model(path, form, size, rng, half):
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    kind, dtype = (TensorProto.FLOAT16, np.float16) if half else (TensorProto.FLOAT, np.float32)
    nodes, constants, ways = [], [], list_ways(form, rng)
    for i, way in enumerate(ways):
        hidden, inter = size
        arrays = {}
        for which, rows, columns in (('1', inter * (2 if way[0] == 'swiglu' else 1), hidden), ('2', hidden, inter)):
            arrays.update((n + which, a) for n, a in make_weight(rng, rows, columns, form).items())
            if way[3]:
                arrays['b' + which] = rng.standard_normal((EXPERTS, rows)).astype(np.float32)
        names = {'x': 'x', 'r': 'r', **({'shares': 'shares'} if way[4] else {}), **{n: '%s_%d' % (n, i) for n in arrays}}
        constants += [numpy_helper.from_array(a.astype(dtype) if a.dtype == np.float32 else a, names[n])
                      for n, a in arrays.items()]
        nodes.append(make_node(form, way, names, 'y%d' % i))
    given = [('x', [1, TOKENS, size[0]] if half else [TOKENS, size[0]]), ('r', [TOKENS, EXPERTS])]
    given += [('shares', [TOKENS, EXPERTS])] if any(w[4] for w in ways) else []
    graph = helper.make_graph(nodes, 'experts', [helper.make_tensor_value_info(n, kind, s) for n, s in given],
                              [helper.make_tensor_value_info(n.output[0], kind, None) for n in nodes], constants)
    save_model(path, graph)
    feeds = {'x': rng.standard_normal(given[0][1]), 'r': rng.standard_normal(given[1][1]),
             'shares': rng.uniform(0, 1, given[1][1])}
    feeds['r'][0] = 1           # equal ones
    feeds['r'][1, 2:] = -200    # experts that get nothing
    return ways, {n: feeds[n].astype(dtype) for n, _ in given}


def compare(program, path, form, size, rng, half=False):
    """How many outputs were compared, how many tokens differ of how many, the most they differ by, and what is wrong."""
    import numpy as np
    ways, feeds = make_model(path, form, size, rng, half)
    wanted = networks.make_session(path, False).run(None, feeds)
    found = networks.run_engine(program, path, feeds)
    off, bad, worst = 0, [], 0.0
    rounds = form[0] == 8 and form[1] or form[3]
    for i, way in enumerate(ways):
        w, f = wanted[i].astype(np.float64), found['y%d' % i].astype(np.float64)
        each = np.abs(w - f).reshape(TOKENS, -1).max(axis=1) / np.abs(w).max()
        over = int((each > (HALF_LIMIT if half else LIMIT)).sum())
        worst, off = max(worst, float(each.max())), off + over
        if not np.isfinite(each).all() or f.shape != w.shape or (each.max() > ROUNDED_LIMIT if rounds else over):
            bad.append('%s %s: %.2e' % (form, way, each.max()))
    if off > TIES * TOKENS * len(ways):
        bad.append('%s: %d of %d tokens differ' % (form, off, TOKENS * len(ways)))
    return len(ways), off, worst, bad


def refuses(program, path, changed, shapes):
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    arrays = {'w1': np.ones((5, 96, 32), np.uint8), 's1': np.ones((5, 96), np.float32),
              'w2': np.ones((5, 64, 48), np.uint8), 's2': np.ones((5, 64), np.float32)}
    arrays.update((n, np.ones(s, arrays[n].dtype)) for n, s in shapes.items())
    attributes = {'k': 2, 'activation_type': 'relu', 'expert_weight_bits': 4, **changed}
    node = helper.make_node(OPERATORS[True], ['x', 'r', 'w1', 's1', '', 'w2', 's2'], ['y'], domain='com.microsoft', **attributes)
    graph = helper.make_graph([node], 'bad', [helper.make_tensor_value_info('x', TensorProto.FLOAT, ['n', 64]),
                                              helper.make_tensor_value_info('r', TensorProto.FLOAT, ['n', 5])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(a, n) for n, a in arrays.items()])
    save_model(path, graph)
    feeds = {'x': np.ones((3, 64), np.float32), 'r': np.zeros((3, 5), np.float32)}
    try:
        networks.make_session(path, False).run(None, feeds)
        return '%s %s: onnxruntime takes it' % (changed, shapes)
    except Exception:
        pass
    try:
        networks.run_engine(program, path, feeds)
        return '%s %s: the engine takes it' % (changed, shapes)
    except RuntimeError as error:
        return None if len(str(error)) > 20 else '%s: no message' % error


def main():
    oracle.use_oracle_python()
    import numpy as np

    import onnxruntime
    onnxruntime.set_default_logger_severity(3)
    rng = np.random.default_rng(5)
    compared, faults = 0, []
    cases = [(form, SIZES[i % len(SIZES)], False) for i, form in enumerate(FORMATS)]
    cases += [(form, WIDE_SIZE, False) for form in WIDE] + [(form, SIZES[0], True) for form in FORMATS[::4]]
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, 'experts.onnx')
        for form, size, half in cases:
            n, off, worst, bad = compare(sys.argv[1], path, form, size, rng, half)
            compared, faults = compared + n, faults + bad
            print('%s %s%s: %d, %d tokens differ, by at most %.2e' %
                  (form, size, ' float16' if half else '', n, off, worst), flush=True)
        faults += [fault for fault in (refuses(sys.argv[1], path, *case) for case in BAD) if fault]
    print('\n'.join(faults))
    print('%d compared, %d bad' % (compared, len(faults)))
    sys.exit(1 if faults or not compared else 0)


if __name__ == '__main__':
    main()
