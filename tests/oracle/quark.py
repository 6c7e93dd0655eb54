#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quark.py VERNIER_CLI SOURCE_ROOT

What AMD's documents offer beside plain quantization: passes over float and over quantized networks, run before and after in
onnxruntime; options, held against onnxruntime.quantization where it has them and against the formula where it has not; what
“inspect” says of weights and types, held against numpy."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

FAILURES = []


def check(what, ok, detail=''):
    print('%-62s %s' % (what, 'ok' if ok else 'WRONG %s' % detail))
    if not ok:
        FAILURES.append(what)


def call(cli, *words):
    done = subprocess.run([cli] + list(words), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit('%s: %s' % (' '.join(words), done.stderr.strip()))
    return done.stdout


def refused(cli, *words):
    done = subprocess.run([cli] + list(words), capture_output=True, text=True)
    return done.stderr.strip() if done.returncode != 0 else ''


def session(path):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return oracle.open_session(path, options)


def run(path, feeds):
    return session(path).run(None, feeds)


def sqnr(a, b):
    import numpy as np

    noise = float(((a.astype(np.float64) - b) ** 2).sum())
    return 10 * np.log10(float((a.astype(np.float64) ** 2).sum()) / noise) if noise > 0 else float('inf')


def constants(path):
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    found = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    for node in graph.node:
        if node.op_type == 'Constant':
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return graph, found


def pairs(path):
    """Scale and zero point by the name of the tensor that QuantizeLinear reads."""
    graph, found = constants(path)
    return {n.input[0]: (found[n.input[1]], found[n.input[2]]) for n in graph.node if n.op_type == 'QuantizeLinear'}


# ---- float networks ----

def save(path, nodes, shape, initializers, opset):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, shape)],
                              [numpy_helper.from_array(v, k) for k, v in initializers.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def reduce_node(kind, source, to, axes, opset, initializers):
    import numpy as np
    from onnx import helper

    if opset < (18 if kind != 'ReduceSum' else 13):
        return helper.make_node(kind, [source], [to], axes=axes, keepdims=1)
    initializers['axes_' + to] = np.array(axes, np.int64)
    return helper.make_node(kind, [source, 'axes_' + to], [to], keepdims=1)


def instance_norm(opset, affine, reciprocal, square):
    import numpy as np
    from onnx import helper

    rng = np.random.default_rng(3)
    constants_ = {'eps': np.array(1e-5, np.float32), 'two': np.array(2, np.float32),
                  'gain': rng.normal(size=(1, 3, 1, 1)).astype(np.float32),
                  'shift': rng.normal(size=(3, 1, 1)).astype(np.float32)}
    nodes = [reduce_node('ReduceMean', 'x', 'mean', [2, 3], opset, constants_), helper.make_node('Sub', ['x', 'mean'], ['c']),
             helper.make_node(*(('Pow', ['c', 'two'], ['q']) if square == 'Pow' else ('Mul', ['c', 'c'], ['q']))),
             reduce_node('ReduceMean', 'q', 'variance', [-1, -2], opset, constants_),
             helper.make_node('Add', ['variance', 'eps'], ['v']), helper.make_node('Sqrt', ['v'], ['s'])]
    out = 'n' if affine else 'y'
    if reciprocal:
        nodes += [helper.make_node('Reciprocal', ['s'], ['r']), helper.make_node('Mul', ['c', 'r'], [out])]
    else:
        nodes += [helper.make_node('Div', ['c', 's'], [out])]
    if affine:
        nodes += [helper.make_node('Mul', ['gain', 'n'], ['m']), helper.make_node('Add', ['m', 'shift'], ['y'])]
    return nodes, constants_


def l2_norm(opset, kind):
    import numpy as np
    from onnx import helper

    constants_ = {'tiny': np.array(1e-12, np.float32), 'size': np.array([2, 3, 4, 5], np.int64)}
    squares = [helper.make_node('Mul', ['x', 'x'], ['q']), reduce_node('ReduceSum', 'q', 'ss', [1], opset, constants_)]
    if kind == 'torch':   # functional.normalize
        nodes = [reduce_node('ReduceL2', 'x', 'l', [1], opset, constants_), helper.make_node('Clip', ['l', 'tiny'], ['k']),
                 helper.make_node('Expand', ['k', 'size'], ['e']), helper.make_node('Div', ['x', 'e'], ['y'])]
    elif kind == 'tensorflow':
        nodes = squares + [helper.make_node('Max', ['ss', 'tiny'], ['k']), helper.make_node('Sqrt', ['k'], ['s']),
                           helper.make_node('Reciprocal', ['s'], ['r']), helper.make_node('Mul', ['x', 'r'], ['y'])]
    else:
        nodes = squares + [helper.make_node('Sqrt', ['ss'], ['s']), helper.make_node('Div', ['x', 's'], ['y'])]
    return nodes, constants_


def fused(cli, work, name, net, opset, op_type, pass_id):
    import numpy as np
    import onnx

    path, out = os.path.join(work, 'float.onnx'), os.path.join(work, 'fused.onnx')
    save(path, net[0], [2, 3, 4, 5], net[1], opset)
    call(cli, 'prepare', path, '-o', out, '--skip-optimization', '--pass', pass_id)
    x = np.random.default_rng(1).normal(size=(2, 3, 4, 5)).astype(np.float32)
    before, after = run(path, {'x': x})[0], run(out, {'x': x})[0]
    onnx.checker.check_model(out, full_check=True)
    types = [n.op_type for n in onnx.load(out).graph.node]
    check('%s, opset %d' % (name, opset), types == [op_type] and np.abs(before - after).max() < 1e-5,
          '%s, off by %g' % (types, np.abs(before - after).max()))


def float_passes(cli, work):
    import numpy as np

    for opset in (13, 18):
        for affine in (False, True):
            for reciprocal, square in ((False, 'Pow'), (True, 'Mul')):
                fused(cli, work, 'instance norm %s%s%s' % (square, ', reciprocal' * reciprocal, ', affine' * affine),
                      instance_norm(opset, affine, reciprocal, square), opset, 'InstanceNormalization', 'fuse-instance-norm')
        for kind in ('torch', 'tensorflow', 'plain'):
            fused(cli, work, 'norm of length 1 as %s writes it' % kind, l2_norm(opset, kind), opset, 'LpNormalization',
                  'fuse-l2-norm')
    # a guard that matters must stay
    net = l2_norm(13, 'torch')
    net[1]['tiny'] = np.array(0.5, np.float32)
    path, out = os.path.join(work, 'float.onnx'), os.path.join(work, 'fused.onnx')
    save(path, net[0], [2, 3, 4, 5], net[1], 13)
    call(cli, 'prepare', path, '-o', out, '--skip-optimization', '--pass', 'fuse-l2-norm')
    check('a bound that changes results is kept', len(constants(out)[0].node) == 4)


def random_weights(cli, work, source):
    import numpy as np

    out = os.path.join(work, 'random.onnx')
    call(cli, 'prepare', source, '-o', out, '--skip-optimization', '--pass', 'random-weights')
    (_, old), (_, new) = constants(source), constants(out)
    weights = [k for k, v in old.items() if v.dtype == np.float32 and v.ndim == 4]
    check('random weights: same shapes and ranges, other numbers', len(weights) > 5 and all(
        new[k].shape == old[k].shape and new[k].min() >= old[k].min() and new[k].max() <= old[k].max() and
        abs(np.corrcoef(new[k].ravel(), old[k].ravel())[0, 1]) < 0.5 for k in weights))


# ---- quantized networks ----

def demo(root):
    return os.path.join(root, 'data', 'demo', 'demo.onnx'), os.path.join(root, 'data', 'demo', 'samples')


def quantize(cli, root, out, *options):
    model, samples = demo(root)
    call(cli, 'quantize', model, '-o', out, '--data', samples, '--samples', '8', '--preprocess', 'minus-one-one',
         '--skip-compare', *options)
    return out


def requantized(cli, root, work):
    import numpy as np
    import onnx

    given = session(demo(root)[0]).get_inputs()[0]
    x = {given.name: np.random.default_rng(0).uniform(-1, 1, given.shape).astype(np.float32)}
    out = os.path.join(work, 'other.onnx')
    npu = quantize(cli, root, os.path.join(work, 'npu.onnx'), '--preset', 'npu-cnn')
    cpu = quantize(cli, root, os.path.join(work, 'cpu.onnx'), '--per-channel')
    wide = quantize(cli, root, os.path.join(work, 'wide.onnx'), '--preset', 'a16w8')
    for name, path in (('npu-cnn', npu), ('cpu', cpu)):
        call(cli, 'prepare', path, '-o', out, '--skip-optimization', '--pass', 'activations-s8')
        onnx.checker.check_model(out, full_check=True)
        same = all(s == pairs(path)[t][0] and z.dtype == np.int8 and int(z) == int(pairs(path)[t][1]) - 128
                   for t, (s, z) in pairs(out).items())
        check('%s: int8 activations give the same' % name,
              same and np.array_equal(run(path, x)[0], run(out, x)[0]) and len(pairs(out)) == len(pairs(path)))
        back = os.path.join(work, 'back.onnx')
        call(cli, 'prepare', out, '-o', back, '--skip-optimization', '--pass', 'activations-u8')
        check('%s: and back' % name, pairs(back).keys() == pairs(path).keys() and
              all(z == pairs(path)[t][1] for t, (_, z) in pairs(back).items()))
    call(cli, 'prepare', wide, '-o', out, '--skip-optimization', '--pass', 'activations-u8')
    onnx.checker.check_model(out, full_check=True)
    old = pairs(wide)
    right = all(z.dtype == np.uint8 and np.float32(float(old[t][0]) * 257) == s and int(z) == round(int(old[t][1]) / 257)
                for t, (s, z) in pairs(out).items())
    check('uint16 activations to uint8: 257 steps are one', right and len(pairs(out)) == len(old) and
          sqnr(run(wide, x)[0], run(out, x)[0]) > 15)
    for name, path in (('opset 13', cpu), ('opset 21', quantize(cli, root, os.path.join(work, '21.onnx'), '--opset', '21'))):
        call(cli, 'prepare', path, '-o', out, '--skip-optimization', '--pass', 'bias-int16')
        graph, found = constants(out)
        old_graph, old_found = constants(path)
        biases = {n.output[0]: n for n in graph.node if n.op_type == 'DequantizeLinear' and n.input[0] in found
                  and found[n.input[0]].dtype == np.int16}
        worst = 0
        for n in old_graph.node:
            if n.output and n.output[0] in biases:
                new = biases[n.output[0]]
                scale = old_found[n.input[1]]
                exact = old_found[n.input[0]].astype(np.float64) * scale
                error = np.abs(found[new.input[0]] * found[new.input[1]].astype(np.float64) - exact)
                worst = max(worst, float((error / found[new.input[1]]).max()))
                peak = np.abs(old_found[n.input[0]].astype(np.int64)).max()
                if scale.size == 1 and peak <= 32767 and found[new.input[1]] != scale:
                    worst = 9
        check('%s: biases of int16, off by half a step at most' % name, len(biases) > 10 and worst <= 0.5001 and
              sqnr(run(path, x)[0], run(out, x)[0]) > 40, '%d biases, %g steps' % (len(biases), worst))


def back_to_float(cli, root, work):
    import numpy as np
    import onnx

    given = session(demo(root)[0]).get_inputs()[0]
    x = {given.name: np.random.default_rng(0).uniform(-1, 1, given.shape).astype(np.float32)}
    exact = run(demo(root)[0], x)[0]
    out, domains = os.path.join(work, 'float.onnx'), ('', 'ai.onnx')
    for preset, least in (('bfp16', 15), ('mx9', 15), ('fixneuron', 15), ('int16', 60), ('cpu-s8', 15), ('w8', 25),
                          ('bf16-weights', 30), ('fp16', 50)):
        path = quantize(cli, root, os.path.join(work, 'any.onnx'), '--preset', preset)
        call(cli, 'prepare', path, '-o', out, '--pass', 'remove-qdq')
        onnx.checker.check_model(out, full_check=True)
        graph, found = constants(out)
        left = [n.op_type for n in graph.node if n.domain not in domains or 'Quantize' in n.op_type or n.op_type == 'Cast']
        check('%s and back to float32' % preset, not left and sqnr(exact, run(out, x)[0]) > least and
              all(v.dtype != np.float16 for v in found.values()), '%s %.1f dB' % (left[:3], sqnr(exact, run(out, x)[0])))


def fix_neuron(cli, root, work):
    """Scales of biases are powers of two that hold the largest element."""
    import numpy as np

    path, given = os.path.join(work, 'fix.onnx'), os.path.join(work, 'folded.onnx')
    call(cli, 'prepare', demo(root)[0], '-o', given)
    quantize(cli, root, path, '--preset', 'fixneuron')
    graph, found = constants(path)
    _, exact = constants(given)
    worst, n = 0, 0
    for node in graph.node:
        bias = exact.get(node.output[0]) if node.op_type == 'FixNeuron' else None
        if bias is None or bias.ndim != 1:
            continue
        scale = found[node.input[1]]
        kept = np.clip(np.rint(found[node.input[0]] / scale), -128, 127) * scale
        worst, n = max(worst, float((np.abs(kept - bias) / scale).max())), n + 1
    check('FixNeuron: biases are off by half a step at most', n > 10 and worst < 0.5001, '%d biases, %g steps' % (n, worst))


def external_data(cli, root, work):
    import numpy as np

    given = session(demo(root)[0]).get_inputs()[0]
    x = {given.name: np.random.default_rng(0).uniform(-1, 1, given.shape).astype(np.float32)}
    inside = quantize(cli, root, os.path.join(work, 'inside.onnx'))
    path = quantize(cli, root, os.path.join(work, 'outside.onnx'), '--save-as-external-data', '--all-tensors-to-one-file',
                    '--external-data-location', 'weights.bin', '--external-data-size-threshold', '512')
    check('quantize with weights beside the model', os.path.getsize(os.path.join(work, 'weights.bin')) > 50000 and
          os.path.getsize(path) < os.path.getsize(inside) - 50000 and np.array_equal(run(path, x)[0], run(inside, x)[0]))


def inspected(cli, root, work):
    import numpy as np

    wide = os.path.join(work, 'wide.onnx')
    said = json.loads(call(cli, 'inspect', wide, '--precision', '--weights', '--json'))
    graph, found = constants(wide)
    convs = [n for n in said['precision'] if n['type'] == 'Conv']
    check('inspect --precision', len(convs) == sum(n.op_type == 'Conv' for n in graph.node) and
          all((n['precision'], n['activation'], n['weight'], n['bias']) == ('A16W8', 'uint16', 'int8', 'int32') for n in convs))
    said = json.loads(call(cli, 'inspect', demo(root)[0], '--precision', '--weights', '--json'))
    check('inspect --precision of a float network', {n['precision'] for n in said['precision']} == {'float'})
    _, found = constants(demo(root)[0])
    wrong = [w['name'] for w in said['weights']
             if not np.allclose([w['min'], w['max'], w['mean'], w['deviation'], w['zeros']],
                                [f(found[w['name']].astype(np.float64)) for f in (np.min, np.max, np.mean, np.std)] +
                                [int((found[w['name']] == 0).sum())], rtol=1e-4, atol=1e-9)]
    check('inspect --weights', len(said['weights']) > 20 and not wrong, wrong[:3])


# ---- options ----

def nearest_int16(scale):
    candidates = [(abs(m / 2 ** n - scale), n, m / 2 ** n) for n in range(16)
                  for m in (max(1, min(32767, int(scale * 2 ** n) + d)) for d in (0, 1))]
    return min(candidates)[2]


def options(cli, root, work):
    import numpy as np

    plain = pairs(quantize(cli, root, os.path.join(work, 'plain.onnx')))
    short = pairs(quantize(cli, root, os.path.join(work, 'short.onnx'), '--int16-scale'))
    check('int16-scale is the nearest M / 2^N', all(np.float32(nearest_int16(float(s))) == short[t][0] for t,
                                                    (s, _) in plain.items()))
    centred = pairs(quantize(cli, root, os.path.join(work, 'centred.onnx'), '--symmetric-ranges'))
    right = 0
    for t, (s, z) in plain.items():
        low, high = float(s) * -int(z), float(s) * (255 - int(z))
        right += np.isclose(float(centred[t][0]), 2 * max(-low, high) / 255, rtol=2e-2) and int(centred[t][1]) in (127, 128)
    check('symmetric-ranges: zero points in the middle', right == len(plain), '%d of %d' % (right, len(plain)))
    fused_path = quantize(cli, root, os.path.join(work, 'fuse.onnx'), '--fuse', 'Conv+Add')
    graph, _ = constants(fused_path)
    made = {o: n for n in graph.node for o in n.output}
    direct = [n for n in graph.node if n.op_type == 'Add' and any(i in made and made[i].op_type == 'Conv' for i in n.input)]
    check('fuse: nothing stands between Conv and Add', len(direct) >= 3 and not any(
        made[n.input[0]].op_type == 'Conv' and made[n.input[1]].op_type == 'Conv' for n in direct))
    npu = ['--preset', 'npu-cnn', '--symmetric']
    every = json.loads(call(cli, 'quantize', demo(root)[0], '--data', demo(root)[1], '--samples', '4', '--preprocess',
                            'minus-one-one', '--json', *npu))['report']
    none = json.loads(call(cli, 'quantize', demo(root)[0], '--data', demo(root)[1], '--samples', '4', '--preprocess',
                           'minus-one-one', '--json', '--npu-rules', 'none', *npu))['report']
    moves = [m for n in every['npu'] for m in n['moves']]
    rows = [n for n in every['npu'] if n['type'] == 'Conv']
    check('the report tells shifts and moves', moves and all(m['reason'] and m['from'] != m['to'] for m in moves) and all(
        n['shifts']['cut'] == n['positions']['weight'] + n['positions']['input'] - n['positions']['output'] for n in rows))
    check('npu-rules none: nothing moves', not [m for n in none['npu'] for m in n['moves']])
    only = json.loads(call(cli, 'quantize', demo(root)[0], '--data', demo(root)[1], '--samples', '4', '--preprocess',
                           'minus-one-one', '--json', '--npu-rules', 'align-pool', *npu))['report']
    check('npu-rules align-pool: nothing else', {m['rule'] for n in only['npu'] for m in n['moves']} <= {'align-pool'})
    path = quantize(cli, root, os.path.join(work, 'passes.onnx'), '--passes', 'mean-to-pool', '--passes', 'clip6-to-relu',
                    '--keep-clamps')
    check('passes: clips became Relu', not any(n.op_type == 'Clip' for n in constants(path)[0].node) and
          any(n.op_type == 'Relu' for n in constants(path)[0].node))
    symmetric = ['--symmetric', '--passes', 'clip6-to-relu']
    relu = pairs(quantize(cli, root, os.path.join(work, 'relu.onnx'), '--unsigned-relu', *symmetric))
    graph, _ = constants(os.path.join(work, 'relu.onnx'))
    clamped = {n.output[0] for n in graph.node if n.op_type == 'Relu'}
    check('unsigned-relu: zero points of Relu are 0', clamped and all(int(relu[t][1]) == 0 for t in clamped & relu.keys()) and
          all(int(z) in (127, 128) for t, (_, z) in relu.items() if t not in clamped))
    for words, named in ((['--npu-rules', 'shift'], 'shift-cut'), (['--passes', 'nothing'], 'fuse-l2-norm'),
                         (['--fuse', 'Conv'], 'Conv+Gelu'), (['--channel-axes', 'MatMul'], 'MatMul=1')):
        text = refused(cli, 'quantize', demo(root)[0], '-o', path, '--data', 'random', *words)
        check('refused: %s' % ' '.join(words), words[0][2:] in text and named in text, text)


def channel_axes(cli, work):
    """As onnxruntime's QDQOpTypePerChannelSupportToAxis."""
    import numpy as np
    import logging
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

    logging.disable(logging.WARNING)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4, 6)).astype(np.float32)
    graph = helper.make_graph([helper.make_node('MatMul', ['x', 'w'], ['y'], 'm')], 'g',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, [4, 6])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [4, 3])],
                              [numpy_helper.from_array(rng.normal(size=(6, 3)).astype(np.float32), 'w')])
    path, ours, theirs = (os.path.join(work, n) for n in ('m.onnx', 'ours.onnx', 'theirs.onnx'))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    os.makedirs(os.path.join(work, 'npy'), exist_ok=True)
    np.save(os.path.join(work, 'npy', '0.npy'), x)

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = [{'x': x}]

        def get_next(self):
            return self.left.pop() if self.left else None

    for axis in (1,):   # along the other one no kernel of ONNX Runtime has scales: there is one for all (forms.py)
        for symmetric in (False, True):
            quantize_static(path, theirs, Reader(), per_channel=True, activation_type=QuantType.QUInt8,
                            weight_type=QuantType.QInt8, extra_options={'QDQOpTypePerChannelSupportToAxis': {'MatMul': axis},
                                                                        'CalibTensorRangeSymmetric': symmetric})
            call(cli, 'quantize', path, '-o', ours, '--data', os.path.join(work, 'npy'), '--per-channel', '--skip-compare',
                 '--channel-axes', 'MatMul=%d' % axis, *(['--symmetric-ranges'] if symmetric else []))
            a, b = ({tuple(map(float, v.ravel())) for k, v in constants(p)[1].items() if v.dtype == np.float32}
                    for p in (ours, theirs))
            check('channels of MatMul on axis %d%s, as onnxruntime has them' % (axis, ', ranges around 0' * symmetric),
                  len(a) == len(b) and all(any(np.allclose(i, j, rtol=1e-6) for j in b if len(j) == len(i)) for i in a))


def main():
    oracle.use_oracle_python()
    cli, root = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as work:
        float_passes(cli, work)
        random_weights(cli, work, demo(root)[0])
        requantized(cli, root, work)
        back_to_float(cli, root, work)
        fix_neuron(cli, root, work)
        external_data(cli, root, work)
        inspected(cli, root, work)
        options(cli, root, work)
        channel_axes(cli, work)
    sys.exit(1 if FAILURES else 0)


if __name__ == '__main__':
    main()
