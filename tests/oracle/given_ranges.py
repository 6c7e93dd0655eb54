#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""given_ranges.py VERNIER_CLI SOURCE_DIR: tables of ranges written by onnxruntime.quantization, and parameters in its form.

Scales and zero points of the export must be those that its own formula makes from the table: of calibration.json the range,
of calibration.cache and calibration.flatbuffers, which hold one number, the range from minus to plus that. Given parameters
must stand in the export as they are. Every export must pass the checker and load.
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
import onnxruntime
from onnxruntime.quantization import quant_utils
from onnxruntime.quantization.calibrate import CalibrationMethod, TensorData, TensorsData

cli, source = sys.argv[1:3]
model = os.path.join(source, 'data', 'demo', 'demo.onnx')
failed = 0


def check(what, good):
    global failed
    if not good:
        print('not ok', what)
        failed += 1


def observe(folder):
    """A range for each tensor that wants one, of our own statistics."""
    table = os.path.join(folder, 'own.json')
    subprocess.run([cli, 'calibrate', model, '--data', os.path.join(source, 'data', 'demo', 'samples'), '--preprocess',
                    'minus-one-one', '--table', table], check=True, stdout=subprocess.DEVNULL)
    with open(table, encoding='utf-8') as file:
        tensors = json.load(file)['tensors']
    return {name: (entry['min'], entry['max']) for name, entry in tensors.items()}


def quantize(table, out, *options):
    done = subprocess.run([cli, 'quantize', model, '-o', out, '--ranges', table, *options], capture_output=True, text=True)
    check(f'{table}: {done.stderr}', done.returncode == 0)
    onnx.checker.check_model(out, full_check=True)
    oracle.open_session(out)
    graph = onnx.load(out).graph
    constants = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    return {node.input[0]: (constants[node.input[1]], constants[node.input[2]]) for node in graph.node
            if node.op_type == 'QuantizeLinear' and node.input[1] in constants}


def compare(kind, got, ranges, symmetric):
    qtype = onnx.TensorProto.UINT8
    qmin, qmax = quant_utils.get_qmin_qmax_for_qType(qtype, symmetric=symmetric)
    check(f'{kind}: {len(got)} tensors', len(got) > 20)
    for name, (scale, zero_point) in got.items():
        if name not in ranges:
            continue
        low, high = (np.array(x, dtype=np.float32) for x in ranges[name])
        expected = quant_utils.compute_scale_zp(low, high, np.array(qmin), np.array(qmax), symmetric)
        check(f'{kind}: {name}: zero point {zero_point}, {expected[0]} expected', int(zero_point) == int(expected[0]))
        check(f'{kind}: {name}: scale {scale}, {expected[1]} expected', abs(scale - expected[1]) <= 1e-6 * expected[1])


with tempfile.TemporaryDirectory() as folder:
    ranges = observe(folder)
    arrays = {name: (np.array([low], dtype=np.float32), np.array([high], dtype=np.float32))
              for name, (low, high) in ranges.items()}
    tensors = TensorsData(CalibrationMethod.MinMax, arrays)
    quant_utils.write_calibration_table(tensors.data, folder)
    amplitudes = {name: (-max(low, high), max(low, high)) if max(low, high) >= 0 else (max(low, high), -max(low, high))
                  for name, (low, high) in ranges.items()}
    out = os.path.join(folder, 'out.onnx')
    for file, expected in (('own.json', ranges), ('calibration.json', ranges), ('calibration.cache', amplitudes),
                           ('calibration.flatbuffers', amplitudes)):
        compare(file, quantize(os.path.join(folder, file), out), expected, False)

    # What save_tensors_data() writes: all of it, with the method.
    from onnxruntime.quantization.calibrate import CalibrationCacheEncoder
    whole = os.path.join(folder, 'whole.json')
    with open(whole, 'w', encoding='utf-8') as file:
        json.dump(tensors, file, cls=CalibrationCacheEncoder)
    compare('TensorsData', quantize(whole, out), ranges, False)

    params = {name: [int(7 + i), float(np.float32(0.01 * (i + 1)))] for i, name in enumerate(ranges)}
    names = sorted(params)
    for kind, content in (('pairs', params),
                          ('input and output', {'input_quantization_params': {n: params[n] for n in names[::2]},
                                                'output_quantization_params': {n: params[n] for n in names[1::2]}})):
        path = os.path.join(folder, 'params.json')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(content, file)
        for name, (scale, zero_point) in quantize(path, out).items():
            if name in params and 'Flatten' not in name:   # that takes the parameters of its input
                check(f'{kind}: {name}', [int(zero_point), float(scale)] == params[name])

# A table that ONNX Runtime wrote for SqueezeNet, on that network, without samples.
shared = oracle.shared_folder()
table = os.path.join(shared, 'interop', 'ort', 'squeezenet_calibration.flatbuffers')
model = os.path.join(shared, 'models', 'cls_squeezenet10_fp32_from_fp16.onnx')
if os.path.exists(table) and os.path.exists(model):
    from onnxruntime.quantization.CalTableFlatBuffers import TrtTable

    with open(table, 'rb') as file:
        entries = TrtTable.TrtTable.GetRootAsTrtTable(file.read(), 0)
    amplitudes = {entries.Dict(i).Key().decode(): float(entries.Dict(i).Value()) for i in range(entries.DictLength())}
    with tempfile.TemporaryDirectory() as folder:
        compare('SqueezeNet', quantize(table, os.path.join(folder, 'out.onnx')),
                {name: (-a, a) for name, a in amplitudes.items()}, False)

# Names that preparation takes away: what is given under them holds for the tensor that has their numbers in the end.
helper, info = onnx.helper, onnx.helper.make_tensor_value_info


def list_scales(path):
    graph = onnx.load(path).graph
    constants = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    return {n.input[0].removesuffix('_QuantizeLinear_Input'): float(constants[n.input[1]]) for n in graph.node
            if n.op_type == 'QuantizeLinear' and n.input[1] in constants}


def network(nodes, constants, out='y', shape=(1, 4, 8, 8)):
    inits = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, 'g', [info('x', onnx.TensorProto.FLOAT, shape)], [info(out, onnx.TensorProto.FLOAT, None)],
                              inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


weight = np.random.default_rng(7).normal(size=(4, 4, 3, 3)).astype(np.float32)
ones = np.ones(4, np.float32)
node = helper.make_node
f32 = np.float32
identity = network([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1] * 4), node('Identity', ['c'], ['i'], 'id'),
                    node('Conv', ['i', 'v'], ['y'], 'last')], {'w': weight, 'v': weight * 2})
padded = network([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1] * 4), node('Pad', ['c', 'pads'], ['p'], 'pad'),
                  node('Conv', ['p', 'v'], ['y'], 'last', kernel_shape=[3, 3])],
                 {'w': weight, 'v': weight * 2, 'pads': np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)})
clamped = network([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1] * 4), node('Relu', ['c'], ['r'], 'relu'),
                   node('Clip', ['r', 'low', 'high'], ['k'], 'clip'), node('Conv', ['k', 'v'], ['y'], 'last')],
                  {'w': weight, 'v': weight * 2, 'low': f32(0), 'high': f32(4)})
turned = network([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1] * 4),
                  node('Transpose', ['c'], ['t'], 'there', perm=[0, 2, 3, 1]),
                  node('Transpose', ['t'], ['b'], 'back', perm=[0, 3, 1, 2]), node('Conv', ['b', 'v'], ['y'], 'last')],
                 {'w': weight, 'v': weight * 2})
twice = network([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1] * 4), node('Sigmoid', ['c'], ['s'], 'one'),
                 node('Sigmoid', ['c'], ['z'], 'two'), node('Mul', ['c', 's'], ['m'], 'mul'),
                 node('Add', ['m', 'z'], ['a'], 'add'),
                 node('Conv', ['a', 'v'], ['y'], 'last')], {'w': weight, 'v': weight * 2})
folded = network([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1] * 4),
                  node('BatchNormalization', ['c', 'g', 'h', 'h', 'g'], ['n'], 'bn'), node('Conv', ['n', 'v'], ['y'], 'last')],
                 {'w': weight, 'v': weight * 2, 'g': ones * 3, 'h': ones})
large = network([node('Conv', ['x', 'w'], ['c'], 'conv', pads=[1] * 4), node('GlobalAveragePool', ['c'], ['p'], 'pool'),
                 node('Conv', ['p', 'v'], ['y'], 'last', kernel_shape=[1, 1])], {'w': weight, 'v': weight[:, :, :1, :1]},
                shape=(1, 4, 32, 32))
# (what, network, options, given, the tensor of the export -> the name whose numbers count, what is told)
cases = (
    ('identity', identity, [], 'x i y', {'x': 'x', 'c': 'i', 'y': 'y'}, None),
    ('own name first', identity, [], 'x c i y', {'c': 'c'}, None),
    ('pad', padded, [], 'x p y', {'c': 'p'}, None),
    ('optimized pad', padded, ['--optimize'], 'x p y', {'c': 'p'}, None),
    ('relu and clip', clamped, ['--optimize', '--keep-clamps'], 'x c r k y', {'r': 'k'}, None),
    ('relu alone', clamped, ['--optimize', '--keep-clamps'], 'x c r y', {'r': 'r'}, None),
    ('transposes', turned, ['--optimize'], 'x b y', {'c': 'b'}, None),
    ('the first of two', turned, ['--optimize'], 'x t y', {'c': 't'}, None),
    ('the same twice', twice, ['--optimize'], 'x c z m a y', {'s': 'z'}, None),
    ('batch norm', folded, [], 'x c n y', {'n': 'n'}, None),
    ('batch norm, gone', folded, ['--data'], 'x c y', {'x': 'x', 'y': 'y'}, 'merged into another, this one into “n”'),
    ('not of it', identity, [], 'x c y other', {'c': 'c'}, 'tensor that is not in the prepared model'),
    ('nhwc', padded, ['--passes', 'nhwc-inputs'], 'x p y', {'x_nchw': 'x', 'c': 'p'}, None),
    ('windows', large, ['--passes', 'split-large-pool'], 'x c p y', {'c': 'c'}, None),
)
with tempfile.TemporaryDirectory() as folder:
    path, out, table = (os.path.join(folder, name) for name in ('m.onnx', 'out.onnx', 'table.json'))
    samples = os.path.join(folder, 'x.npy')
    for what, proto, options, given, expected, told in cases:
        onnx.save(proto, path)
        shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
        np.save(samples, np.random.default_rng(1).normal(size=shape).astype(np.float32))
        ranges = {name: {'min': -float(i + 1), 'max': float(2 * i + 3)} for i, name in enumerate(given.split())}
        with open(table, 'w', encoding='utf-8') as file:
            json.dump({'format': 'vernier-ranges', 'version': 1, 'tensors': ranges}, file)
        options = [o for p in options for o in ([p, samples] if p == '--data' else [p])]
        done = subprocess.run([cli, 'quantize', path, '-o', out, '--ranges', table, '--no-verify', *options],
                              capture_output=True, text=True,
                              check=False)
        check(f'{what}: {done.stderr}', done.returncode == 0)
        if done.returncode != 0:
            continue
        check(f'{what}: told {done.stderr!r}', (told in done.stderr) if told else '“' + table not in done.stderr)
        onnx.checker.check_model(out, full_check=True)
        got = list_scales(out)
        for name, source in expected.items():
            wanted = (ranges[source]['max'] - ranges[source]['min']) / 255
            check(f'{what}: {name}: {got} instead of {wanted}', name in got and abs(got[name] - wanted) < 1e-6 * wanted)

    # Two files: the second joins the first, and counts where both say something.
    onnx.save(identity, path)
    second = os.path.join(folder, 'second.json')
    for file, tensors in ((table, {'x': (-1, 1), 'c': (-2, 3)}), (second, {'c': (-4, 6), 'y': (-5, 5)})):
        with open(file, 'w', encoding='utf-8') as stream:
            json.dump({name: [float(low), float(high)] for name, (low, high) in tensors.items()}, stream)
    recipe = os.path.join(folder, 'recipe.json')
    for options in (['--ranges', table, '--ranges', second, '--save-recipe', recipe], ['--recipe', recipe]):
        done = subprocess.run([cli, 'quantize', path, '-o', out, '--no-verify', *options], capture_output=True, text=True,
                              check=False)
        check(f'two files: {done.stderr}', done.returncode == 0)
        got = list_scales(out)
        for name, wanted in (('x', 2 / 255), ('c', 10 / 255), ('y', 10 / 255)):
            check(f'two files: {name}: {got}', name in got and abs(got[name] - wanted) < 1e-6)

    # A clamp stays where the range ends further out, as powers of two do and given ranges may; it goes where nothing is lost.
    levels = onnxruntime.GraphOptimizationLevel
    big = (np.random.default_rng(3).normal(size=(4, 1, 4, 8, 8)) * 30).astype(np.float32)
    with open(table, 'w', encoding='utf-8') as file:
        json.dump({'y': [-8.0, 8.0]}, file)
    powers = ['--power-of-two', 'nearest']
    for kind, low, high, options, stays in (
            ('Clip', 0, 6, [], False), ('Clip', 0, 6, powers, True), ('Clip', 0, 4, powers, False),
            ('Clip', -1, 1, powers, False), ('Clip', -1, 1.5, powers, True),
            ('Clip', 0, 6, ['--method', 'nonoverflow'], True), ('Clip', 0, 4, ['--method', 'nonoverflow'], False),
            ('Clip', 0, 4, ['--method', 'minmse'], True), ('Clip', 0, 6, ['--preset', 'qlinear', *powers], True),
            ('Relu', 0, np.inf, powers, False), ('Relu', 0, np.inf, ['--ranges', table], True),
            ('Clip', 0, 6, ['--ranges', table], True)):
        what = f'{kind} {low} {high} {" ".join(options)}'
        inputs = ['c', 'low', 'high'] if kind == 'Clip' else ['c']
        onnx.save(network([node('Conv', ['x', 'w'], ['c'], 'conv'), node(kind, inputs, ['y'], 'clamp')],
                          {'w': weight, **({'low': f32(low), 'high': f32(high)} if kind == 'Clip' else {})}), path)
        np.save(samples, big[:, 0])
        done = subprocess.run([cli, 'quantize', path, '-o', out, '--data', samples, '--no-verify', '--held-out', '0', *options],
                              capture_output=True, text=True,
                              check=False)
        check(f'{what}: {done.stderr}', done.returncode == 0)
        kinds = [n.op_type for n in onnx.load(out).graph.node]
        check(f'{what}: {kinds}', (kind in kinds) == stays)
        constants = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(out).graph.initializer}
        step = 1.001 * max(float(a) for name, a in constants.items() if name.startswith('y') and name.endswith('_scale'))
        for optimized in (True, False):
            session_options = onnxruntime.SessionOptions()
            session_options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(out, session_options, providers=['CPUExecutionProvider'])
            values = session.run(None, {'x': big[0] * 3})[0]
            check(f'{what}: {values.min()} to {values.max()}', values.min() >= low - step / 2 and values.max() <= high + step / 2)

    # Parameters for some tensors, in a type with the other sign: nothing is left in float for it, and the numbers mean the same.
    onnx.save(clamped, path)
    np.save(samples, np.random.default_rng(1).normal(size=(1, 4, 8, 8)).astype(np.float32))
    for what, given in (('one', {'x': (0.05, -3, 'int8')}), ('both', {'x': (0.05, -3, 'int8'), 'y': (0.5, 100, 'uint8')})):
        with open(table, 'w', encoding='utf-8') as file:
            json.dump({'format': 'vernier-ranges', 'version': 1, 'tensors':
                       {n: {'scale': s, 'zero_point': z, 'type': t} for n, (s, z, t) in given.items()}}, file)
        subprocess.run([cli, 'quantize', path, '-o', out, '--ranges', table, '--data', samples, '--preset', 'qlinear',
                        '--no-verify'],
                       capture_output=True, text=True, check=True)
        oracle.open_session(out)
        graph = onnx.load(out).graph
        constants = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
        types = [n.op_type for n in graph.node]
        check(f'{what} in another type: {types}', 'Conv' not in types and types.count('QLinearConv') == 2)
        first = next(n for n in graph.node if n.op_type == 'QuantizeLinear')
        zero = constants[first.input[2]]
        low = (np.iinfo(zero.dtype).min - int(zero)) * float(constants[first.input[1]])
        check(f'{what} in another type: lowest {low}', abs(low - (-128 + 3) * 0.05) < 1e-5)

print('failed' if failed else 'ok')
sys.exit(1 if failed else 0)
