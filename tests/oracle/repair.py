#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""repair.py CLI: what lowers the error without training, judged by onnxruntime on networks made for it: each repair helps the
network that needs it, leaves the one alone that does not, writes what the checker takes, and gives the same bytes for any number
of threads."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from onnx import helper, numpy_helper    # noqa: E402

CLI = sys.argv[1]
N_SAMPLES = 16
faults = []


def expect(good, what):
    print(('ok      ' if good else 'WRONG   ') + what)
    if not good:
        faults.append(what)


def make_weights(rng, shape):
    """Random, with one number in each row that is larger than the others, as trained weights have."""
    weights = rng.normal(size=shape).astype(np.float32)
    weights.reshape(shape[0], -1)[:, 0] *= 3
    return weights / np.sqrt(np.prod(shape[1:]))


def make_network(path, spread=1.0, on_grid=False):
    """Conv, Relu, depthwise Conv, Relu, Conv. @spread: between the largest and the smallest channel that the depthwise Conv
    reads, which it undoes. @on_grid: all weights are whole multiples of a 127th of the largest of their channel."""
    rng = np.random.default_rng(3)
    first, depthwise, last = (make_weights(rng, s) for s in ((16, 3, 3, 3), (16, 1, 3, 3), (8, 16, 1, 1)))
    size = np.geomspace(1, 1 / spread, 16).astype(np.float32).reshape(-1, 1, 1, 1)
    weights = {'w1': first * size, 'w2': depthwise / size, 'w3': last,
               'b1': (rng.normal(size=16) * 0.3).astype(np.float32) * size.ravel()}
    if on_grid:
        for name in ('w1', 'w2', 'w3'):
            w = weights[name]
            step = (np.abs(w).max(axis=(1, 2, 3), keepdims=True) / 127).astype(np.float32)
            weights[name] = np.round(w / step) * step
    nodes = [helper.make_node('Conv', ['x', 'w1', 'b1'], ['a'], 'first', pads=[1, 1, 1, 1]),
             helper.make_node('Relu', ['a'], ['b'], 'relu'),
             helper.make_node('Conv', ['b', 'w2'], ['c'], 'depthwise', pads=[1, 1, 1, 1], group=16),
             helper.make_node('Relu', ['c'], ['d'], 'relu2'),
             helper.make_node('Conv', ['d', 'w3'], ['y'], 'last')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', 1, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info('y', 1, [1, 8, 16, 16])],
                              [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def make_gated_network(path, spread=1.0):
    """Conv, x sigmoid (x), Conv, x clip (x / 6 + 0.5, 0, 1), grouped Conv with channels added up. @spread: between the largest
    and the smallest channel of what the first and the second write, which those behind undo."""
    rng = np.random.default_rng(5)
    size = np.geomspace(1, 1 / spread, 16).astype(np.float32)
    order = rng.permutation(16)
    w1, w2, w3 = (make_weights(rng, s) for s in ((16, 3, 3, 3), (16, 16, 1, 1), (8, 8, 3, 3)))
    weights = {'w1': w1 * 8, 'b1': rng.normal(size=16).astype(np.float32), 'w2': w2,
               'b2': (rng.normal(size=16) * 0.1).astype(np.float32),
               'w3': w3, 'three': np.array(3, np.float32), 'low': np.array(0, np.float32), 'high': np.array(6, np.float32)}
    weights['w1'] = weights['w1'] * (size * 20).reshape(-1, 1, 1, 1)
    weights['w2'] = weights['w2'] / (size * 20).reshape(1, -1, 1, 1) * 8 * size[order].reshape(-1, 1, 1, 1) * 20
    weights['w3'] = weights['w3'] / (size[order] * 20).reshape(2, 1, 8, 1, 1).repeat(4, axis=1).reshape(8, 8, 1, 1)
    nodes = [helper.make_node('Conv', ['x', 'w1', 'b1'], ['a'], 'first', pads=[1, 1, 1, 1]),
             helper.make_node('Sigmoid', ['a'], ['s'], 'sigmoid'), helper.make_node('Mul', ['a', 's'], ['b'], 'gate'),
             helper.make_node('Conv', ['b', 'w2', 'b2'], ['c'], 'second'),
             helper.make_node('Add', ['c', 'three'], ['d'], 'add'), helper.make_node('Clip', ['d', 'low', 'high'], ['e'], 'clip'),
             helper.make_node('Mul', ['c', 'e'], ['f'], 'gate2'), helper.make_node('Conv', ['f', 'w3'], ['y'], 'last', group=2)]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', 1, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info('y', 1, [1, 8, 14, 14])],
                              [numpy_helper.from_array(np.asarray(w, np.float32), n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def make_moved_network(path, offset):
    """Conv, Relu, plus @offset, with edges of that, Conv that takes it out of its bias, Gemm behind the mean."""
    rng = np.random.default_rng(6)
    w1, w2, w3 = make_weights(rng, (12, 3, 3, 3)), make_weights(rng, (8, 12, 3, 3)), make_weights(rng, (5, 8))
    weights = {'w1': w1, 'b1': rng.normal(size=12) * 0.1, 'by': np.full((1, 1, 1, 1), offset), 'edge': np.array(offset), 'w2': w2,
               'b2': rng.normal(size=8) * 0.1 - offset * w2.astype(np.float64).reshape(8, -1).sum(axis=1), 'w3': w3,
               'b3': rng.normal(size=5) * 0.1}
    nodes = [helper.make_node('Conv', ['x', 'w1', 'b1'], ['a'], 'first'), helper.make_node('Relu', ['a'], ['b'], 'relu'),
             helper.make_node('Add', ['b', 'by'], ['c'], 'add'), helper.make_node('Pad', ['c', 'pads', 'edge'], ['d'], 'pad'),
             helper.make_node('Conv', ['d', 'w2', 'b2'], ['e'], 'second'), helper.make_node('Relu', ['e'], ['f'], 'relu2'),
             helper.make_node('GlobalAveragePool', ['f'], ['g'], 'mean'), helper.make_node('Flatten', ['g'], ['h'], 'flat'),
             helper.make_node('Gemm', ['h', 'w3', 'b3'], ['y'], 'last', transB=1)]
    constants = [numpy_helper.from_array(np.asarray(w, np.float32), n) for n, w in weights.items()]
    constants.append(numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), 'pads'))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', 1, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info('y', 1, [1, 5])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def make_joined_network(path, spread=1.0):
    """Two Conv, of which one is @spread times smaller, joined; a Conv that undoes it; Gemm and MatMul behind, which do the
    same."""
    rng = np.random.default_rng(7)
    w1, w2, w3 = make_weights(rng, (8, 3, 3, 3)), make_weights(rng, (8, 3, 3, 3)), make_weights(rng, (10, 16, 1, 1))
    w4, w5 = make_weights(rng, (12, 10)), make_weights(rng, (12, 5))
    w3[:, 8:] *= spread
    b4 = np.full(12, 1.0)
    w4[:6] /= spread
    b4[:6] /= spread
    w5[:6] *= spread
    weights = {'w1': w1, 'w2': w2 / spread, 'w3': w3, 'w4': w4, 'b4': b4, 'w5': w5, 'b5': np.zeros(5)}
    nodes = [helper.make_node('Conv', ['x', 'w1'], ['a'], 'first'), helper.make_node('Conv', ['x', 'w2'], ['b'], 'second'),
             helper.make_node('Relu', ['a'], ['c'], 'relu'), helper.make_node('Relu', ['b'], ['d'], 'relu2'),
             helper.make_node('Concat', ['c', 'd'], ['e'], 'join', axis=1), helper.make_node('Conv', ['e', 'w3'], ['f'], 'third'),
             helper.make_node('GlobalAveragePool', ['f'], ['g'], 'mean'), helper.make_node('Flatten', ['g'], ['h'], 'flat'),
             helper.make_node('Gemm', ['h', 'w4', 'b4'], ['i'], 'fourth', transB=1),
             helper.make_node('Relu', ['i'], ['j'], 'relu3'),
             helper.make_node('MatMul', ['j', 'w5'], ['k'], 'last'), helper.make_node('Add', ['k', 'b5'], ['y'], 'bias')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', 1, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info('y', 1, [1, 5])],
                              [numpy_helper.from_array(np.asarray(w, np.float32), n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def make_samples(folder, seed, n):
    """Smooth pictures: neighbours go along with each other, as what layers read does."""
    rng = np.random.default_rng(seed)
    os.mkdir(folder)
    samples = []
    for i in range(n):
        noise = np.cumsum(np.cumsum(rng.normal(size=(1, 3, 16, 16)), axis=2), axis=3)
        samples.append((noise / np.abs(noise).max()).astype(np.float32))
        np.save(os.path.join(folder, f'{i:02}.npy'), samples[-1])
    return samples


def export(network, data, out, *options):
    subprocess.run([CLI, 'quantize', network, '-o', out, '--data', data, '--preset', 'cpu', '--per-channel', *options],
                   check=True, capture_output=True, text=True)
    onnx.checker.check_model(onnx.load(out), full_check=True)
    return out


def run(path, samples, optimized=None):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if optimized:
        options.optimized_model_filepath = optimized
    session = oracle.open_session(path, options)
    return [session.run(None, {'x': s})[0] for s in samples]


def sqnr(wanted, found):
    noise = sum(((a.astype(np.float64) - b) ** 2).sum() for a, b in zip(wanted, found))
    return 10 * np.log10(sum((a.astype(np.float64) ** 2).sum() for a in wanted) / max(noise, 1e-30))


def constants(path):
    return {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}


def count(path, op_type):
    return sum(n.op_type == op_type for n in onnx.load(path).graph.node)


def check_rounding(work, data, unseen):
    """4 bits need it: nearest against second order, and against leaving the network alone whose weights are integers already."""
    network, grid = os.path.join(work, 'n.onnx'), os.path.join(work, 'grid.onnx')
    make_network(network)
    make_network(grid, on_grid=True)
    wanted = run(network, unseen)
    for options, gain in ((['--weight', 's4', '--activation', 'u16'], 2), (['--weight', 's8', '--activation', 'u16'], 1)):
        near = export(network, data, os.path.join(work, 'near.onnx'), *options)
        second = export(network, data, os.path.join(work, 'second.onnx'), *options, '--rounding', 'second-order')
        before, after = sqnr(wanted, run(near, unseen)), sqnr(wanted, run(second, unseen))
        expect(after > before + gain,
               f'second-order rounding, {options[1]}: {before:.1f} -> {after:.1f} dB on samples nobody has seen')
        old, new = constants(near), constants(second)
        expect(all(np.array_equal(old[n], new[n]) for n in old if n.endswith(('_scale', '_zero_point'))), 'and no scale changes')
        expect(any(not np.array_equal(old[n], new[n]) for n in old if n.endswith('_quantized')), 'but integers do')
    one = export(network, data, os.path.join(work, 'one.onnx'), '--rounding', 'second-order', '--threads', '1')
    three = export(network, data, os.path.join(work, 'three.onnx'), '--rounding', 'second-order', '--threads', '3')
    expect(open(one, 'rb').read() == open(three, 'rb').read(), 'the same bytes for 1 and 3 threads')
    plain = constants(export(grid, data, os.path.join(work, 'g1.onnx')))
    kept = constants(export(grid, data, os.path.join(work, 'g2.onnx'), '--rounding', 'second-order'))
    expect(all(np.array_equal(plain[n], kept[n]) for n in plain if n.endswith('_quantized')),
           'weights on the grid stay as they are')


def make_far_network(path):
    """Conv, Relu, Conv. What the first writes has a channel ten times as large as the others, of which the second makes next to
    nothing."""
    rng = np.random.default_rng(7)
    first, last = make_weights(rng, (16, 3, 3, 3)), make_weights(rng, (8, 16, 1, 1))
    first[0] *= 10
    last[:, 0] *= 1e-4
    nodes = [helper.make_node('Conv', ['x', 'w1', 'b1'], ['a'], 'first', pads=[1, 1, 1, 1]),
             helper.make_node('Relu', ['a'], ['b'], 'relu'),
             helper.make_node('Conv', ['b', 'w2'], ['y'], 'last')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', 1, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info('y', 1, [1, 8, 16, 16])],
                              [numpy_helper.from_array(w.astype(np.float32), n)
                               for n, w in (('w1', first), ('b1', np.full(16, 0.1, np.float32)), ('w2', last))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def check_ranges(work, data, unseen):
    """Weights of 4 bit need it, and tensors whose largest channel hardly counts behind; weights that are integers already do
    not."""
    network, far, grid = (os.path.join(work, f'{name}.onnx') for name in ('n', 'far', 'grid'))
    make_network(network)
    make_far_network(far)
    make_network(grid, on_grid=True)
    search = ['--range-search', 'outputs']
    for path, options, gain in ((network, ['--weight', 's4', '--activation', 'u16'], 1), (far, ['--float-outputs', '*'], 3)):
        wanted = run(path, unseen)
        before = sqnr(wanted, run(export(path, data, os.path.join(work, 'r1.onnx'), *options), unseen))
        after = sqnr(wanted, run(export(path, data, os.path.join(work, 'r2.onnx'), *options, *search), unseen))
        expect(after > before + gain,
               f'search for ranges, {" ".join(options)}: {before:.1f} -> {after:.1f} dB on samples nobody has seen')
    options = ['--weight', 's4', *search, '--rounding', 'second-order']
    one, three = (export(network, data, os.path.join(work, f't{n}.onnx'), *options, '--threads', n) for n in '13')
    expect(open(one, 'rb').read() == open(three, 'rb').read(), 'the same bytes for 1 and 3 threads')
    plain = export(grid, data, os.path.join(work, 'r1.onnx'), '--activation', 'u16')
    kept = export(grid, data, os.path.join(work, 'r2.onnx'), '--activation', 'u16', *search)
    old, new = constants(plain), constants(kept)
    expect(old.keys() == new.keys() and all(np.array_equal(old[n], new[n]) for n in old),
           'a network whose weights are on the grid stays as it is')


def check_ranges_formula(work):
    """With X all that a layer has read, a row w of weights gets the range max |w| f with the least (w - q)' X X' (w - q)."""
    percents = [*range(100, 89, -1), *range(101, 106), *range(88, 58, -2), 57, 54, 50, 45, 40]
    rng = np.random.default_rng(9)
    folder, network = os.path.join(work, 'vectors'), os.path.join(work, 'product.onnx')
    w = make_weights(rng, (8, 24)).astype(np.float32)
    x = rng.normal(size=(12, 24)).astype(np.float32) + np.float32(0.5)
    os.mkdir(folder)
    for i, row in enumerate(x):
        np.save(os.path.join(folder, f'{i:02}.npy'), row[None])
    graph = helper.make_graph([helper.make_node('Gemm', ['x', 'w'], ['y'], 'product', transB=1)], 'g',
                              [helper.make_tensor_value_info('x', 1, [1, 24])], [helper.make_tensor_value_info('y', 1, [1, 8])],
                              [numpy_helper.from_array(w, 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), network)
    out = export(network, folder, os.path.join(work, 'p.onnx'), '--weight', 's4', '--activation', 'u16', '--held-out', '0',
                 '--range-search', 'outputs')
    found = constants(out)['w_scale'].astype(np.float64)
    moments = x.astype(np.float64).T @ x
    good = 0
    for row, scale in zip(w.astype(np.float64), found):
        errors = []
        for percent in percents:
            step = np.abs(row).max() * percent / 100 / 7.5
            left = row - np.clip(np.rint(row / step), -8, 7) * step
            errors.append(left @ moments @ left)
        good += abs(scale / (np.abs(row).max() / 7.5) - percents[int(np.argmin(errors))] / 100) < 1e-4
    expect(good == len(w), f'the formula: {good} of {len(w)} rows as worked out in float64')


def check_channels(work, data, unseen):
    """Channels of very different magnitude in front of a depthwise convolution: the integers of scales per channel, at no
    cost."""
    for spread, gain in ((300, 10), (1, -1)):
        network = os.path.join(work, f's{spread}.onnx')
        make_network(network, spread)
        wanted = run(network, unseen)
        plain = export(network, data, os.path.join(work, 'plain.onnx'))
        folded = export(network, data, os.path.join(work, 'folded.onnx'), '--activation-channels', 'folded')
        optimized = [os.path.join(work, f'optimized-{i}.onnx') for i in (0, 1)]
        before, after = sqnr(wanted, run(plain, unseen, optimized[0])), sqnr(wanted, run(folded, unseen, optimized[1]))
        expect(after > before + gain, f'scales per channel, channels 1 to {spread}: {before:.1f} -> {after:.1f} dB')
        kernels = [count(path, 'QLinearConv') for path in optimized]
        expect(kernels[0] == kernels[1] == 3,
               f'and onnxruntime runs {kernels[1]} of 3 convolutions on integers, as before {kernels[0]}')
        old, new = constants(plain), constants(folded)
        expect(all(np.array_equal(old[n], new[n]) for n in ('w1_quantized', 'w2_quantized', 'w3_quantized')),
               'all weights are the same integers')
        product = (new['w1_scale'] * new['w2_scale']) / (old['w1_scale'] * old['w2_scale'])
        expect(np.allclose(product, 1, rtol=1e-6), 'what one weight takes the other gives back')
    direct = export(network, data, os.path.join(work, 'direct.onnx'), '--activation-channels', 'depthwise')
    run(direct, unseen)


def check_balance(work, data, unseen):
    """Channels of very different magnitude that dense convolutions and gates read; all that was scaled is what it was in
    float."""
    for make, name, value, spread, gain in ((make_network, 'plain', 'folded', 300, 10), (make_network, 'even', 'folded', 1, -0.5),
                                            (make_joined_network, 'joined', 'folded', 300, 10),
                                            (make_joined_network, 'alike', 'folded', 1, -0.5),
                                            (make_gated_network, 'gated', 'restored', 100, 6),
                                            (make_gated_network, 'level', 'restored', 1, -0.5)):
        network = os.path.join(work, f'{name}.onnx')
        make(network, spread)
        wanted = run(network, unseen)
        options = ['--balance-channels', value, '--balance-cost', '100']
        optimized = os.path.join(work, 'optimized.onnx')
        plain = export(network, data, os.path.join(work, f'{name}-0.onnx'))
        balanced = export(network, data, os.path.join(work, f'{name}-1.onnx'), *options)
        before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(balanced, unseen, optimized))
        expect(after > before + gain, f'{value} balance of {name}, channels 1 to {spread}: {before:.1f} -> {after:.1f} dB')
        kernels, all_convs = count(optimized, 'QLinearConv'), 3
        expect(kernels == all_convs, f'and onnxruntime runs {kernels} of {all_convs} convolutions on integers')
        one = export(network, data, os.path.join(work, 'b1.onnx'), *options, '--threads', '1')
        three = export(network, data, os.path.join(work, 'b3.onnx'), *options, '--threads', '3')
        expect(open(one, 'rb').read() == open(three, 'rb').read(), 'the same bytes for 1 and 3 threads')
    check_balance_formula(work, data)


def check_balance_formula(work, data):
    """factor = max (a^e w^(e - 1), a), at most 1, in float64: the scales of weights are divided by it row by row, numbers of
    weights behind are multiplied."""
    network, exponent = os.path.join(work, 'gated.onnx'), 0.6
    options = ['--held-out', '0', '--balance-channels', 'restored', '--balance-cost', '100', '--balance-exponent', str(exponent)]
    plain = constants(export(network, data, os.path.join(work, 'f0.onnx'), '--held-out', '0'))
    balanced = constants(export(network, data, os.path.join(work, 'f1.onnx'), *options))
    model = onnx.load(network)
    model.graph.output.extend(helper.make_tensor_value_info(n, 1, None) for n in 'abc')
    session = oracle.open_session(model)
    runs = [session.run(list('abc'), {'x': np.load(os.path.join(data, f))}) for f in sorted(os.listdir(data))]
    largest = [np.max([np.abs(r[i]).max(axis=(0, 2, 3)) for r in runs], axis=0).astype(np.float64) for i in range(3)]
    a, b, c = (x / x.max() for x in largest)
    w2 = numpy_helper.to_array(next(i for i in model.graph.initializer if i.name == 'w2')).astype(np.float64)[:, :, 0, 0]
    weight = (np.abs(w2) / np.abs(w2).max(axis=1, keepdims=True)).max(axis=0)
    of_a, of_c = (np.maximum(x ** exponent, x) for x in (a, c))
    of_b = np.minimum(np.maximum(b ** exponent * weight ** (exponent - 1), b), 1)
    expect(np.allclose(plain['w1_scale'] / balanced['w1_scale'], of_a, rtol=1e-4),
           'factors in front of a gate are those of the formula')
    expect(np.allclose(balanced['w2_scale'], np.abs(w2 * of_b).max(axis=1) / of_c / 127, rtol=1e-2),
           'and weights that add channels up hold those behind it')


def check_offsets(work, data, unseen):
    """A tensor far from 0: its smallest value goes into the bias behind, which float64 says too; one that is not keeps its
    constants."""
    for offset, gain in ((50, 15), (0, -0.5)):
        network = os.path.join(work, f'moved{offset}.onnx')
        make_moved_network(network, offset)
        wanted = run(network, unseen)
        plain = export(network, data, os.path.join(work, 'm0.onnx'))
        centred = export(network, data, os.path.join(work, 'm1.onnx'), '--balance-channels', 'folded', '--balance-exponent', '1')
        before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(centred, unseen))
        expect(after > before + gain, f'offset {offset}: {before:.1f} -> {after:.1f} dB')
        model = onnx.load(network)
        model.graph.output.append(helper.make_tensor_value_info('c', 1, None))
        session = oracle.open_session(model)
        files = sorted(os.listdir(data))
        least = min(session.run(['c'], {'x': np.load(os.path.join(data, f))})[0].min() for i, f in enumerate(files))
        old, new = constants(plain), constants(centred)
        w2 = constants(network)['w2'].astype(np.float64).reshape(8, -1).sum(axis=1)
        biases = [c['b2_quantized'] * c['b2_quantized_scale'].astype(np.float64) for c in (old, new)]
        if offset:
            expect(np.allclose(biases[1], constants(network)['b2'] + least * w2, atol=0.02),
                   'and the bias behind is that of float64')
        else:
            expect(least == 0 and 'c_offset' not in new, 'and nothing is moved')


def check_balance_of_powers(work, data, unseen):
    """One scale for each tensor that is a power of two, biases of 8 bit: channels of very different size, and even ones. The
    format stays what it is, and what was even stays as good."""
    for spread, gain in ((300, 6), (1, -0.5)):
        network = os.path.join(work, f'powers{spread}.onnx')
        make_network(network, spread)
        wanted = run(network, unseen)
        for preset in (['--preset', 'npu-cnn'], ['--preset', 'cpu', '--format', 'qoperator', '--power-of-two', 'nearest']):
            done = [os.path.join(work, f'powers-{i}.onnx') for i in (0, 1)]
            for path, value in zip(done, ('off', 'folded')):
                subprocess.run([CLI, 'quantize', network, '-o', path, '--data', data, *preset, '--balance-channels', value],
                               check=True, capture_output=True, text=True)
            before, after = (sqnr(wanted, run(path, unseen)) for path in done)
            expect(after > before + gain, f'{preset[-1]}, channels 1 to {spread}: {before:.1f} -> {after:.1f} dB')
            powers = [sorted(n for n, v in constants(path).items()
                             if n.endswith('_scale') and v.size == 1 and np.frexp(v)[0] == 0.5) for path in done]
            expect(powers[0] and powers[0] == powers[1], f'and the same {len(powers[1])} scales are powers of two')


def make_biased_network(path, offset):
    """Conv, Relu, Conv without padding. @offset: what half of the channels in front of Relu hold beside what changes."""
    rng = np.random.default_rng(11)
    weights = {'w1': make_weights(rng, (8, 3, 3, 3)),
               'b1': (rng.normal(size=8) * 0.1 + offset * (np.arange(8) % 2)).astype(np.float32),
               'w2': make_weights(rng, (4, 8, 1, 1)), 'b2': (rng.normal(size=4) * 0.1).astype(np.float32)}
    nodes = [helper.make_node('Conv', ['x', 'w1', 'b1'], ['a'], 'first'), helper.make_node('Relu', ['a'], ['b'], 'relu'),
             helper.make_node('Conv', ['b', 'w2', 'b2'], ['y'], 'last')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', 1, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info('y', 1, [1, 4, 14, 14])],
                              [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)
    return {n: w.astype(np.float64) for n, w in weights.items()}


def check_absorbed(work, data, unseen):
    """Large biases: c = max (0, mean - 3 deviations) in float64, taken from one bias and added to the next by its weights; biases
    that are small stay where they are, bit by bit."""
    network, small = os.path.join(work, 'offset.onnx'), os.path.join(work, 'small.onnx')
    weights = make_biased_network(network, 12)
    make_biased_network(small, 0)
    wanted = run(network, unseen)
    plain = export(network, data, os.path.join(work, 'a0.onnx'), '--held-out', '0')
    absorbed = export(network, data, os.path.join(work, 'a1.onnx'), '--held-out', '0', '--absorb-bias')
    before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(absorbed, unseen))
    expect(after > before + 6, f'biases absorbed by the layer behind: {before:.1f} -> {after:.1f} dB')
    model = onnx.load(network)
    model.graph.output.append(helper.make_tensor_value_info('a', 1, None))
    session = oracle.open_session(model)
    runs = [session.run(['a'], {'x': np.load(os.path.join(data, f))})[0].astype(np.float64) for f in sorted(os.listdir(data))]
    mean, square = (np.mean([(r ** k).mean(axis=(0, 2, 3)) for r in runs], axis=0) for k in (1, 2))
    c = np.maximum(0, mean - 3 * np.sqrt(square - mean ** 2))
    stored = constants(absorbed)
    found = [stored[n + '_quantized'] * stored[n + '_quantized_scale'].astype(np.float64) for n in ('b1', 'b2')]
    expect((c > 5).sum() == 4 and (c == 0).sum() == 4, 'half of the channels have something to absorb')
    expect(np.allclose(found[0], weights['b1'] - c, atol=2e-3), 'the first bias is less by the formula')
    expect(np.allclose(found[1], weights['b2'] + weights['w2'][:, :, 0, 0] @ c, atol=2e-3),
           'and the second more by what its weights make of that')
    old, new = (constants(export(small, data, os.path.join(work, f'a{i}.onnx'), *options))
                for i, options in ((2, []), (3, ['--absorb-bias'])))
    expect(len(old) > 10 and old.keys() == new.keys() and all(np.array_equal(old[n], new[n]) for n in old),
           'small biases stay where they are')


def check_biases(work, data, unseen):
    """Weights of 4 bit shift the means of layers: those are taken back where it helps, front to back; weights on the grid shift
    nothing."""
    network, grid = os.path.join(work, 'biased.onnx'), os.path.join(work, 'unbiased.onnx')
    make_network(network)
    make_network(grid, on_grid=True)
    wanted = run(network, unseen)
    options = ['--weight', 's4', '--activation', 'u16']
    plain = export(network, data, os.path.join(work, 'c0.onnx'), *options)
    guarded = export(network, data, os.path.join(work, 'c1.onnx'), *options, '--bias-correction', 'guarded')
    before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(guarded, unseen))
    expect(after > before + 0.5, f'layer-by-layer bias correction, weights of 4 bit: {before:.1f} -> {after:.1f} dB')
    one = export(network, data, os.path.join(work, 'c2.onnx'), *options, '--bias-correction', 'guarded', '--threads', '1')
    expect(open(one, 'rb').read() == open(guarded, 'rb').read(), 'the same bytes for any number of threads')
    wanted = run(grid, unseen)
    before, after = (sqnr(wanted, run(export(grid, data, os.path.join(work, 'c3.onnx'), '--bias-correction', value), unseen))
                     for value in ('off', 'guarded'))
    expect(after > before - 0.5, f'and does no harm where nothing is shifted: {before:.1f} -> {after:.1f} dB')


def check_auto(work, data, unseen):
    """--auto ends with less error than it began with, tells how, and its recipe makes the same file again."""
    network = os.path.join(work, 'auto.onnx')
    make_network(network, 300)
    wanted = run(network, unseen)
    plain = export(network, data, os.path.join(work, 'plain.onnx'))
    out, recipe = os.path.join(work, 'improved.onnx'), os.path.join(work, 'recipe.json')
    auto = ['--auto', '--time', '600']   # enough for all steps on a machine that has other things to do
    done = subprocess.run([CLI, 'quantize', network, '-o', out, '--data', data, '--preset', 'cpu', *auto,
                           '--save-recipe', recipe],
                          check=True, capture_output=True, text=True)
    onnx.checker.check_model(onnx.load(out), full_check=True)
    before, after = sqnr(wanted, run(plain, unseen)), sqnr(wanted, run(out, unseen))
    expect(after > before + 10, f'--auto: {before:.1f} -> {after:.1f} dB on samples nobody has seen')
    expect(', kept' in done.stdout and ', not kept' in done.stdout, 'and tells what was kept and what not')
    again = os.path.join(work, 'again.onnx')
    subprocess.run([CLI, 'quantize', network, '-o', again, '--data', data, '--recipe', recipe], check=True, capture_output=True)
    expect(open(again, 'rb').read() == open(out, 'rb').read(), 'its recipe makes the same bytes')
    done = subprocess.run([CLI, 'quantize', network, '-o', again, '--data', data, '--preset', 'cpu', *auto,
                           '--origins', '--json'],
                          check=True, capture_output=True, text=True)
    expect(len(json.loads(done.stdout)['report'].get('origins', [])) > 5,
           'with --origins it tells where the error starts that is left')
    expect(open(again, 'rb').read() == open(out, 'rb').read(), 'in the same network')
    late = os.path.join(work, 'late.onnx')
    subprocess.run([CLI, 'quantize', network, '-o', late, '--data', data, '--preset', 'cpu', '--auto', '--time', '0'], check=True,
                   capture_output=True)
    expect(open(late, 'rb').read() == open(plain, 'rb').read(), 'without any time it is the plain export')


def main():
    with tempfile.TemporaryDirectory() as work:
        data = os.path.join(work, 'data')
        make_samples(data, 1, N_SAMPLES)
        unseen = make_samples(os.path.join(work, 'unseen'), 2, 6)
        check_rounding(work, data, unseen)
        check_ranges(work, data, unseen)
        check_ranges_formula(work)
        check_channels(work, data, unseen)
        check_balance(work, data, unseen)
        check_offsets(work, data, unseen)
        check_balance_of_powers(work, data, unseen)
        check_absorbed(work, data, unseen)
        check_biases(work, data, unseen)
        check_auto(work, data, unseen)
    print(f'{len(faults)} faults')
    sys.exit(bool(faults))


main()
