#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_rules.py QUANTIZE_RUN [CASE...]: settings about placement and rules about tensors, against onnxruntime.quantization.

Both get the ranges the peer observed. Every constant must be equal, and every node must read and every output must be what it
is in the peer's model: through the same conversions, with the same scales. On a small network with something of everything, and
on a real one."""
import json
import os
import subprocess
import sys
import tempfile

import oracle
import quantize
from quantize_small import Net

REAL = 'det_nanodet_m_320'


def rule(tensors, **fields):
    return {'tensors': tensors, 'activation': fields.pop('type', None), 'weight': fields.pop('weight', None), **fields}


def f32(*values):
    import numpy as np
    return [np.array(v, np.float32) for v in values]


def cases():
    """name -> settings, rules, arguments of the peer, its extra options"""
    from onnxruntime.quantization import QuantType
    import numpy as np

    s8, u8, u16, s16 = QuantType.QInt8, QuantType.QUInt8, QuantType.QUInt16, QuantType.QInt16
    three = np.array(3, np.uint8)
    return {
        'plain': ({}, [], {}, {}),
        'op-types': ({'op-types': ['Conv', 'Mul']}, [], {'op_types_to_quantize': ['Conv', 'Mul']}, {}),
        'op-types-other': ({'op-types': ['Conv', 'HardSigmoid']}, [],
                           {'op_types_to_quantize': ['Conv', 'HardSigmoid']}, {}),
        'only-nodes': ({'only-nodes': ['n0', 'n2', 'n7']}, [], {'nodes_to_quantize': ['n0', 'n2', 'n7']}, {}),
        'force': ({'force-passthrough': True, 'op-types': ['Transpose', 'MaxPool', 'Where']}, [],
                  {'op_types_to_quantize': ['Transpose', 'MaxPool', 'Where']}, {'ForceQuantizeNoInputCheck': True}),
        'keep-clamps': ({'keep-clamps': True}, [], {}, {'QDQKeepRemovableActivations': True}),
        'float-outputs-of': ({'float-output-types': ['Conv', 'MatMul', 'Gemm']}, [], {},
                             {'OpTypesToExcludeOutputQuantization': ['Conv', 'MatMul', 'Gemm']}),
        'no-bias': ({'quantize-bias': False}, [], {}, {'QuantizeBias': False}),
        'no-room': ({'raise-weight-scales': False}, [], {}, {'QDQDisableWeightAdjustForInt32Bias': True}),
        'pairs-on-weights': ({'pairs-on-weights': True}, [], {}, {'AddQDQPairToWeight': True}),
        'pairs-on-channels': ({'pairs-on-weights': True, 'per-channel': True}, [], {'per_channel': True},
                              {'AddQDQPairToWeight': True}),
        'dedicated': ({'dedicated-pairs': True}, [], {}, {'DedicatedQDQPair': True}),
        'least-range': ({'minimum-real-range': 2.5}, [], {}, {'MinimumRealRange': 2.5}),
        'symmetric-tensor': ({}, [rule(['m'], symmetric='true')], {}, {'TensorQuantOverrides': {'m': [{'symmetric': True}]}}),
        'type': ({}, [rule(['m'], type='int8')], {}, {'TensorQuantOverrides': {'m': [{'quant_type': s8}]}}),
        'type16': ({}, [rule(['m'], type='uint16'), rule(['w0'], weight='int16')], {},
                   {'TensorQuantOverrides': {'m': [{'quant_type': u16}], 'w0': [{'quant_type': s16}]}}),
        'range': ({}, [rule(['m'], min=['-1.5'], max=['2.25'])], {},
                  {'TensorQuantOverrides': {'m': [dict(zip(('rmin', 'rmax'), f32(-1.5, 2.25)))]}}),
        'one-end': ({}, [rule(['m'], max=['9'])], {}, {'TensorQuantOverrides': {'m': [{'rmax': f32(9)[0]}]}}),
        'scale': ({}, [{'tensors': ['m'], 'scale': ['0.0625'], 'zero-point': ['3']}], {},
                  {'TensorQuantOverrides': {'m': [{'scale': f32(0.0625)[0], 'zero_point': three}]}}),
        'weight-range': ({}, [rule(['w0'], min=['-0.5'], max=['0.75'], symmetric='false')], {},
                         {'TensorQuantOverrides': {'w0': [{'rmin': -0.5, 'rmax': 0.75, 'symmetric': False}]}}),
        'weight-reduced': ({}, [{'tensors': ['w0'], 'reduce-range': 'true'}], {},
                           {'TensorQuantOverrides': {'w0': [{'reduce_range': True}]}}),
        'weight-tensor': ({'per-channel': True}, [{'tensors': ['w0'], 'per-channel': 'false'}], {'per_channel': True},
                          {'TensorQuantOverrides': {'w0': [{'symmetric': True}]}}),
        'weight-scales': ({}, [{'tensors': ['w0'], 'axis': 0, 'scale': ['0.01', '0.02', '0.03', '0.04'],
                                'zero-point': ['0']}], {},
                          {'TensorQuantOverrides': {'w0': [{'axis': 0, 'scale': s, 'zero_point': 0}
                                                           for s in (0.01, 0.02, 0.03, 0.04)]}}),
        'bias-as-weight': ({}, [rule(['b0'], weight='int8')], {}, {'TensorQuantOverrides': {'b0': [{'quant_type': s8}]}}),
        'convert-all': ({}, [rule(['m'], convert='uint16')], {},
                        {'TensorQuantOverrides': {'m': [{'convert': {'quant_type': u16}}]}}),
        'convert-some': ({}, [rule(['m'], convert='uint16', receivers=['n3'])], {},
                         {'TensorQuantOverrides': {'m': [{'convert': {'quant_type': u16, 'recv_nodes': {'n3'}}}]}}),
        'convert-input': ({}, [rule(['x'], type='uint16', convert='uint8', receivers=['n0'])], {},
                          {'TensorQuantOverrides': {'x': [{'quant_type': u16,
                                                           'convert': {'quant_type': u8, 'recv_nodes': {'n0'}}}]}}),
        'convert-shared': ({}, [rule(['m'], convert='uint16', receivers=['n4']), rule(['t'], convert='int8')], {},
                           {'TensorQuantOverrides': {'m': [{'convert': {'quant_type': u16, 'recv_nodes': {'n4'}}}],
                                                     't': [{'convert': {'quant_type': s8}}]}}),
        'convert-output': ({}, [rule(['y'], convert='uint16')], {},
                           {'TensorQuantOverrides': {'y': [{'convert': {'quant_type': u16}}]}}),
        'convert-range': ({}, [{'tensors': ['m'], 'convert': 'int16', 'convert-symmetric': 'true', 'convert-max': ['7']}], {},
                          {'TensorQuantOverrides': {'m': [{'convert': {'quant_type': s16, 'symmetric': True,
                                                                       'rmax': f32(7)[0]}}]}}),
    }


REAL_CASES = ['plain', 'op-types', 'keep-clamps', 'float-outputs-of', 'no-bias', 'pairs-on-channels', 'dedicated', 'least-range']


def build_small(path):
    import numpy as np
    net = Net([1, 4, 8, 8], opset=21)
    net.weight('w0', (4, 4, 3, 3)), net.weight('b0', (4,))
    net.node('Conv', 'x w0 b0', 'c', pads=[1, 1, 1, 1])          # n0
    net.node('Relu', 'c', 'r')                                    # n1
    net.weight('k', (4, 1, 1))
    net.node('Mul', 'r k', 'm')                                   # n2
    net.weight('w1', (4, 4, 1, 1)), net.constant('b1', np.array([1, -500, 3000, 2000], np.float32))
    net.node('Conv', 'm w1 b1', 'd')                              # n3
    net.node('Transpose', 'm', 't', perm=[0, 1, 3, 2])            # n4
    net.node('Add', 't d', 's')                                   # n5
    net.node('HardSigmoid', 's', 'h')                             # n6
    net.node('MaxPool', 's', 'p', kernel_shape=[3, 3], pads=[1, 1, 1, 1])   # n7
    net.node('Concat', 'p h t', 'j', axis=1)                      # n8
    net.constant('yes', np.arange(8) % 2 == 0)
    net.node('Where', 'yes j j', 'u')                             # n9
    net.weight('v', (8, 6))
    net.node('MatMul', 'u v', 'y')                                # n10
    net.save(path, ['y'])


def conversions_of(model):
    """name of node or output -> what it reads, back to a tensor that no conversion wrote"""
    from onnx import numpy_helper

    constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    producers = {o: n for n in model.graph.node for o in n.output}

    def chain(name):
        steps = []
        while name in producers and producers[name].op_type in ('QuantizeLinear', 'DequantizeLinear'):
            node = producers[name]
            scale, zero = constants[node.input[1]], constants[node.input[2]]
            axis = [a.i for a in node.attribute if a.name == 'axis'] if scale.size > 1 else []
            steps.append((node.op_type, str(zero.dtype), scale.ravel().tolist(), zero.ravel().tolist(), axis))
            name = node.input[0]
        if name in producers:
            origin = producers[name].name
        elif name in constants:
            origin = constants[name].tobytes()
        else:
            origin = name
        return steps, origin

    result = {}
    for node in model.graph.node:
        if node.op_type not in ('QuantizeLinear', 'DequantizeLinear'):
            for i, name in enumerate(node.input):
                result[node.name, i] = chain(name)
    for value in model.graph.output:
        result['output', value.name] = chain(value.name)
    return result


def compare_structure(ours, theirs):
    import onnx

    a, b = conversions_of(onnx.load(ours)), conversions_of(onnx.load(theirs))
    wrong = ['only ours: %s' % (k,) for k in a if k not in b] + ['only theirs: %s' % (k,) for k in b if k not in a]
    for key in b:
        if key in a and a[key] != b[key]:
            wrong.append('%s: %s, theirs %s' % (key, str(a[key])[:160], str(b[key])[:160]))
    return wrong, len(b)


def write_recipe(settings, rules, path):
    settings = {'format': 'qdq', 'activation': 'uint8', 'weight': 'int8', 'method': 'minmax', **settings}
    rules = [{'enabled': True, **{k: v for k, v in r.items() if v is not None}} for r in rules]
    with open(path, 'w') as f:
        json.dump({'vernier-recipe': 1, 'preset': 'cpu', 'per-channel': False, **settings, 'rules': rules}, f)


def run_case(program, case, source, samples, name, folder):

    settings, rules, arguments, extra = case
    peer, ranges = os.path.join(folder, 'peer.onnx'), os.path.join(folder, 'ranges.txt')
    observed = quantize.peer_quantize(source, peer, samples, name, {**arguments, 'extra_options': extra})
    quantize.write_ranges(observed, ranges)
    write_recipe(settings, rules, os.path.join(folder, 'recipe.json'))
    ours = quantize.quantize(program, ['--recipe', os.path.join(folder, 'recipe.json'), '--ranges', ranges], source, folder,
                             'ours')
    wrong, n = compare_structure(ours, peer)
    # the peer writes a pair that nothing reads where one node reads a tensor twice, and no integers where weights stay float
    by_name = 'pairs-on-weights' not in settings and 'dedicated-pairs' not in settings
    stored, compared = quantize.compare_exact(ours, peer, False, source) if by_name else ([], 0)
    x = samples[0]
    a, b = (oracle.open_session(p).run(None, {name: x}) for p in (ours, peer))
    for i, (p, q) in enumerate(zip(a, b)):
        if not ((p == q) | (p != p)).all():
            wrong.append('output %d differs by up to %g' % (i, abs(p - q).max()))
    return wrong + stored, n + compared


def networks(program, shared, folder):
    import numpy as np

    small = os.path.join(folder, 'small.onnx')
    build_small(small)
    rng = np.random.default_rng(5)
    yield 'small', small, [rng.normal(0, 1, (1, 4, 8, 8)).astype(np.float32) for _ in range(4)], 'x', None
    real = quantize.prepare(program, os.path.join(shared, 'models', REAL + '.onnx'), folder)
    given = oracle.open_session(real).get_inputs()[0]
    shape = oracle.input_shape(REAL, given.shape)
    yield REAL, real, [oracle.image_input(REAL, p, shape) for p in oracle.photographs(shared)[:2]], given.name, REAL_CASES


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    import logging
    logging.disable(logging.WARNING)
    program, wanted = sys.argv[1], sys.argv[2:]
    good = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for network, source, samples, name, names in networks(program, shared, folder):
            for case, what in cases().items():
                if (wanted and case not in wanted) or (names is not None and case not in names):
                    continue
                try:
                    wrong, n = run_case(program, what, source, samples, name, folder)
                except Exception as e:
                    wrong, n = ['%s: %s' % (type(e).__name__, str(e).strip()[-300:])], 0
                good, total = good + (not wrong and n > 0), total + 1
                print('%-20s %-18s %4d things compared, %d findings' % (network, case, n, len(wrong)))
                for line in wrong[:8]:
                    print('    ' + line)
    print('%d of %d equal' % (good, total))
    sys.exit(0 if total > 0 and good == total else 1)


if __name__ == '__main__':
    main()
