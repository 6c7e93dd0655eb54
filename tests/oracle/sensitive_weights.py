#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sensitive_weights.py VERNIER_CLI

What `wide-share` and `balance-channels` make of a small decoder with gated products, whose layers differ in size and some of
whose channels are much larger than others.

Which matrices get 8 bits: for each of them onnxruntime runs an export with nothing but that one in 4 bits, and tells its KL
divergence from the float network. What was chosen must take away nearly as much as the best choice of that size does. The share
of numbers with 8 bits is never larger than asked for, and without samples no matrix has more bits. The size that is told of the
preset before samples are run is that of an export with samples.

Large channels: the divergence of the whole export in onnxruntime must become smaller by AWQ, and what is float stays the same.
"""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

import oracle

WORDS, WIDTH, INNER, LAYERS, LENGTH, SAMPLES = 64, 64, 128, 3, 16, 8
LEAST_PART = 0.9       # of the divergence that the best choice of the same size takes away
AWQ_GAIN = 0.9         # divergence with it, to that without
TOLD = 0.03            # of the size of a file
SCALES = (0.3, 1.0, 0.6)      # of what the layers add


def make_model(path, spread):
    """@spread: how much larger some channels of what is normalized are than others."""
    rng = np.random.default_rng(6)
    constants = {'table': rng.standard_normal((WORDS, WIDTH)),
                 'head': rng.standard_normal((WIDTH, WORDS)) / 3}
    nodes = [helper.make_node('Gather', ['table', 'input_ids'], ['x0'], 'embed')]

    def norm(x, out):
        scale = np.ones(WIDTH)
        scale[rng.permutation(WIDTH)[:6]] = spread
        constants[out + '_scale'] = scale
        nodes.append(helper.make_node('LayerNormalization', [x, out + '_scale'], [out], out, axis=-1, epsilon=1e-6))

    for i in range(LAYERS):
        norm('x%d' % i, 'n%d' % i)
        for name, size in (('up', (WIDTH, INNER)), ('gate', (WIDTH, INNER)), ('down', (INNER, WIDTH))):
            constants['%s%d' % (name, i)] = rng.standard_normal(size) * SCALES[i] / np.sqrt(size[0])
        nodes.extend([helper.make_node('MatMul', ['n%d' % i, 'up%d' % i], ['u%d' % i], 'up%d' % i),
                      helper.make_node('MatMul', ['n%d' % i, 'gate%d' % i], ['g%d' % i], 'gate%d' % i),
                      helper.make_node('Sigmoid', ['g%d' % i], ['s%d' % i], 'sigmoid%d' % i),
                      helper.make_node('Mul', ['g%d' % i, 's%d' % i], ['a%d' % i], 'swish%d' % i),
                      helper.make_node('Mul', ['a%d' % i, 'u%d' % i], ['p%d' % i], 'product%d' % i),
                      helper.make_node('MatMul', ['p%d' % i, 'down%d' % i], ['d%d' % i], 'down%d' % i),
                      helper.make_node('Add', ['x%d' % i, 'd%d' % i], ['x%d' % (i + 1)], 'add%d' % i)])
    norm('x%d' % LAYERS, 'last')
    nodes.append(helper.make_node('MatMul', ['last', 'head'], ['logits'], 'head'))
    graph = helper.make_graph(nodes, 'decoder', [helper.make_tensor_value_info('input_ids', TensorProto.INT64, [1, LENGTH])],
                              [helper.make_tensor_value_info('logits', TensorProto.FLOAT, [1, LENGTH, WORDS])],
                              [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10), path)


def log_probabilities(path, texts):
    session, found = oracle.open_session(path), []
    for text in texts:
        z = session.run(['logits'], {'input_ids': text})[0].astype(np.float64)
        z -= z.max(-1, keepdims=True)
        found.append(z - np.log(np.exp(z).sum(-1, keepdims=True)))
    return found


def divergence(wanted, path, texts):
    return float(np.mean([(np.exp(p) * (p - q)).sum(-1).mean() for p, q in zip(wanted, log_probabilities(path, texts))]))


def export(model, out, *options):
    run = subprocess.run([CLI, 'quantize', model, '-o', out, '--skip-compare', '--no-verify', *options],
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    onnx.checker.check_model(out)
    return out


def list_bits(path):
    """By name of the matrix, without the head."""
    return {node.input[1].rsplit('_Q', 1)[0]: next(a.i for a in node.attribute if a.name == 'bits')
            for node in onnx.load(path).graph.node if node.op_type == 'MatMulNBits' and not node.input[1].startswith('head')}


def measure_alone(model, work, matrices, wanted, texts):
    alone = {}
    for name in matrices:
        rules = [o for other in [*matrices, 'head'] if other != name
                 for o in ('--rule', json.dumps({'nodes': other, 'exclude': True}))]
        out = export(model, os.path.join(work, 'alone.onnx'), '--preset', 'w4-matmul', '--block-method', 'mse',
                     '--accuracy-level', '1', *rules)
        alone[name] = divergence(wanted, out, texts)
    return alone


def check_choice(name, chosen, share, alone, sizes, faults):
    """Of all sets that are as large at most, how much the best one takes away, to what was chosen."""
    most = share * sum(sizes.values())
    taken = sum(sizes[m] for m in chosen)
    best = max(sum(alone[m] for m in some) for n in range(len(alone) + 1) for some in itertools.combinations(alone, n)
               if sum(sizes[m] for m in some) <= most)
    part = sum(alone[m] for m in chosen) / best
    print('%s: %d of %d matrices, %d of %d numbers, %.3f of what the best choice takes away'
          % (name, len(chosen), len(alone), taken, most, part), flush=True)
    if taken > most or not chosen or part < LEAST_PART:
        faults.append('%s: %s' % (name, chosen))


def compare_choices(model, data, texts, work, faults):
    wanted = log_probabilities(model, texts)
    matrices = [n + str(i) for i in range(LAYERS) for n in ('up', 'gate', 'down')]
    sizes = {t.name: int(np.prod(t.dims)) for t in onnx.load(model).graph.initializer if t.name in matrices}
    alone, compared = measure_alone(model, work, matrices, wanted, texts), 0
    plain = export(model, os.path.join(work, 'plain.onnx'), '--preset', 'w4-mixed')
    if set(list_bits(plain).values()) != {4}:
        faults.append('more bits without samples: %s' % list_bits(plain))
    for share in (0.12, 0.25, 0.5):
        options = ['--preset', 'w4-mixed', '--wide-share', str(share), '--data', data]
        out = export(model, os.path.join(work, 'wide.onnx'), *options)
        chosen = [m for m, bits in list_bits(out).items() if bits == 8]
        check_choice('share of %.2f' % share, chosen, share, alone, sizes, faults)
        gains = divergence(wanted, out, texts) / divergence(wanted, plain, texts)
        print('    divergence %.3f of that without' % gains)
        if gains >= 1:
            faults.append('share of %.2f: more divergence' % share)
        compared += 1
    return compared


def compare_told(model, data, work, faults):
    """The size that is told of the preset before any sample is run, beside that of the export made with samples."""
    run = subprocess.run([CLI, 'inspect', '--presets', model], capture_output=True, text=True,
                         env={**os.environ, 'LC_ALL': 'C.UTF-8'})
    number, unit = re.search(r'^ *w4-mixed +([0-9.]+)\s(kB|MB)', run.stdout, re.M).groups()
    told = float(number) * {'kB': 1e3, 'MB': 1e6}[unit]
    size = os.path.getsize(export(model, os.path.join(work, 'told.onnx'), '--preset', 'w4-mixed', '--data', data))
    print('told: %d bytes, written: %d' % (told, size))
    if abs(told / size - 1) > TOLD:
        faults.append('the told size is %.3f of that of the file' % (told / size))
    return 1


def compare_awq(model, data, texts, work, faults):
    wanted, compared = log_probabilities(model, texts), 0
    for preset in ('w4-matmul', 'w4'):
        found = []
        for how in ('off', 'folded'):
            out = export(model, os.path.join(work, how + '.onnx'), '--preset', preset, '--balance-channels', how, '--data', data)
            found.append(divergence(wanted, out, texts))
        print('%s: divergence %.5f, by AWQ %.5f' % (preset, *found), flush=True)
        if not found[1] < AWQ_GAIN * found[0]:
            faults.append('%s: AWQ gains nothing' % preset)
        floats = export(model, os.path.join(work, 'float.onnx'), '--preset', preset, '--balance-channels', 'folded', '--data',
                        data, '--weight', 'uint8', '--block-size', '16',
                        *(['--accuracy-level', '1'] if preset == 'w4-matmul' else []))
        if not divergence(wanted, floats, texts) < found[1] / 10:
            faults.append('%s: with 8 bits the network is not the same' % preset)
        compared += 1
    return compared


def main():
    faults, compared = [], 0
    with tempfile.TemporaryDirectory() as work:
        rng = np.random.default_rng(7)
        texts = [rng.integers(0, WORDS, (1, LENGTH)) for _ in range(SAMPLES)]
        data = os.path.join(work, 'data')
        os.makedirs(data)
        for i in range(2 * SAMPLES):
            np.save(os.path.join(data, '%02d.npy' % i), rng.integers(0, WORDS, (1, LENGTH)))
        even, uneven = os.path.join(work, 'even.onnx'), os.path.join(work, 'uneven.onnx')
        make_model(even, 1.0)
        make_model(uneven, 20.0)
        compared += compare_choices(even, data, texts, work, faults)
        compared += compare_told(even, data, work, faults)
        compared += compare_awq(uneven, data, texts, work, faults)
    for fault in faults:
        print('WRONG', fault)
    print('%d compared' % compared)
    sys.exit(1 if faults or compared == 0 else 0)


if __name__ == '__main__':
    oracle.use_oracle_python()
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    CLI = sys.argv[1]
    main()
