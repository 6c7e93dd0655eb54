#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_dynamic.py VERNIER_CLI QUANTIZE_RUN [MODEL...]: IntegerOps with ranges found while running, against
onnxruntime.quantization's quantize_dynamic on the same prepared network: every stored integer, scale and zero point, how many
nodes of each operator, and what both exports compute on the same random inputs; and our own run of our export. With a scale per
channel ConvInteger has one, too, which the peer leaves with one scale: there the integers and scales are held against the
formula, and our export must be about as good as theirs."""
import collections
import os
import subprocess
import sys
import tempfile

import oracle

MODELS = ['txt_bert_toy_op12_unsorted', 'aud_dtln_1_lstm', 'kws_micro_fp32', 'txt_tashkeel_transformer_fp32', 'mnist_cntk_op8',
          'vit_cct2_32_op20', 'aud_yamnet256_st']
SIMULATION_DB = 40
NOISE_DB = 5   # what the error of one sample differs by chance


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip()[:300])


def constants(path):
    import onnx
    from onnx import numpy_helper

    return {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}


def operators(path):
    import onnx

    return collections.Counter(n.op_type for n in onnx.load(path).graph.node
                               if n.op_type.endswith('Integer') or n.op_type.startswith('DynamicQuantize'))


def convolved(path):
    """Names of the weights of ConvInteger, without endings."""
    import onnx

    return {n.input[1].removesuffix('_quantized') for n in onnx.load(path).graph.node if n.op_type == 'ConvInteger'}


def per_channel_of(prepared, ours):
    """Lines about constants of ConvInteger in our export that the formula does not give."""
    import numpy as np

    exact, stored, lines = constants(prepared), constants(ours), []
    for name in convolved(ours):
        w, q, scale, zero = exact[name], *(stored[name + end] for end in ('_quantized', '_scale', '_zero_point'))
        wanted = np.abs(w).reshape(len(w), -1).max(1).astype(np.float64) * 2 / 254
        wanted = np.where(wanted < np.finfo(np.float32).tiny, 1, wanted).astype(np.float32)
        along = wanted.reshape([-1] + [1] * (w.ndim - 1))
        if zero.shape != () or zero != 0 or scale.shape != (len(w),) + (1,) * (w.ndim - 2) or \
                not np.array_equal(scale.ravel(), wanted) or not np.array_equal(q, np.clip(np.rint(w / along), -128, 127)):
            lines.append('%s: not one scale per channel: scale %s, zero point %s' % (name, scale.shape, zero))
    return lines


def compare_constants(ours, theirs, left_out):
    import numpy as np

    # newer versions of the peer rename what they turn
    a, b = constants(ours), {n.replace('_Transposed_', '_'): v for n, v in constants(theirs).items()}
    ends = ('_quantized', '_scale', '_zero_point')
    names = [n for n in sorted(b) if n.endswith(ends) and not any(n == w + end for w in left_out for end in ends)]
    wrong = [n for n in names if n not in a or a[n].dtype != b[n].dtype or not np.array_equal(a[n].ravel(), b[n].ravel())]
    lines = ['%s: %s, theirs %s' % (n, a[n].ravel()[:4] if n in a else 'missing', b[n].ravel()[:4]) for n in wrong]
    if operators(ours) != operators(theirs):
        lines.append('operators: %s, theirs %s' % (dict(operators(ours)), dict(operators(theirs))))
    return len(names), lines if names or left_out else ['nothing was compared']


def make_inputs(session, folder):
    import numpy as np

    rand = np.random.default_rng(5)
    inputs = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) else 4 for d in i.shape]
        whole = 'float' not in i.type
        x = rand.integers(0, 2, shape) if whole else rand.standard_normal(shape)
        inputs[i.name] = x.astype(oracle_dtype(i.type))
        np.save(os.path.join(folder, '%d.npy' % len(inputs)), inputs[i.name])
    return inputs


def oracle_dtype(text):
    import numpy as np

    return {'tensor(float)': np.float32, 'tensor(int64)': np.int64, 'tensor(int32)': np.int32, 'tensor(bool)': np.bool_}[text]


def db(reference, other):
    import numpy as np

    noise = float(((reference.astype(np.float64) - other) ** 2).sum())
    signal = float((reference.astype(np.float64) ** 2).sum())
    return float('inf') if noise == 0 else 10 * np.log10(max(signal, 1e-30) / noise)


def compare_runs(cli, prepared, ours, theirs, is_better, folder):
    """Lines about outputs of onnxruntime on both files, and of our engine on ours, that are too far apart."""
    import numpy as np

    session, peer = oracle.open_session(ours), oracle.open_session(theirs)
    inputs = make_inputs(session, folder)
    expected, other = session.run(None, inputs), peer.run(None, inputs)
    exact = oracle.open_session(prepared).run(None, inputs)
    out = os.path.join(folder, 'out')
    given = [x for i, name in enumerate(inputs) for x in ('--input', '%s=%s' % (name, os.path.join(folder, '%d.npy' % (i + 1))))]
    run([cli, 'run', ours, '-o', out, *given])
    lines, worst = [], float('inf')
    for output, a, b, c in zip(session.get_outputs(), expected, other, exact):
        if a.dtype != np.float32 or a.size == 0:
            continue
        simulated = np.load(os.path.join(out, output.name.replace('/', '_').replace(':', '_') + '.npy'))
        worst = min(worst, db(a, simulated))
        if db(a, simulated) < SIMULATION_DB:
            lines.append('%s: our run is %.1f dB from onnxruntime' % (output.name, db(a, simulated)))
        if is_better and db(c, a) < db(c, b) - NOISE_DB:
            lines.append("%s: %.1f dB, the peer's file has %.1f dB" % (output.name, db(c, a), db(c, b)))
        if not is_better and db(b, a) < SIMULATION_DB:
            lines.append("%s: the peer's file gives %.1f dB" % (output.name, db(b, a)))
    return worst, lines


def compare(cli, program, stem, prepared, per_channel, folder):
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    ours, theirs = os.path.join(folder, 'ours.onnx'), os.path.join(folder, 'theirs.onnx')
    run([cli, 'quantize', prepared, '-o', ours, '--preset', 'dynamic'] + ['--per-channel'] * per_channel)
    onnx.checker.check_model(ours, full_check=True)
    quantize_dynamic(prepared, theirs, weight_type=QuantType.QInt8, per_channel=per_channel)
    channels = convolved(ours) if per_channel else set()
    n, lines = compare_constants(ours, theirs, channels)
    worst, more = compare_runs(cli, prepared, ours, theirs, bool(channels), folder)
    lines += more + (per_channel_of(prepared, ours) if channels else [])
    print('%-34s %-8s %4d constants, %d findings; our run %.1f dB from onnxruntime'
          % (stem, 'channel' if per_channel else 'tensor', n, len(lines), worst))
    for line in lines[:8]:
        print('    ' + line)
    return not lines


def make_shared(path):
    """A convolution with a channel of zeros, a product with matrices one above the other, a table that is also a factor."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rand = np.random.default_rng(3)
    weights = {'kernel': rand.normal(size=(3, 2, 3, 3)) * np.array([1, 0, 0.01]).reshape(3, 1, 1, 1),
               'above': rand.normal(size=(3, 5, 4)),
               'table': rand.normal(size=(4, 6)) * np.arange(1, 7), 'bias': rand.normal(size=3)}
    nodes = [helper.make_node('Conv', ['x', 'kernel', 'bias'], ['c'], 'conv'),
             helper.make_node('MatMul', ['c', 'above'], ['m'], 'above'),
             helper.make_node('MatMul', ['m', 'table'], ['y'], 'tied'), helper.make_node('Gather', ['table', 'i'], ['g'], 'pick')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 2, 6, 7]),
                                           helper.make_tensor_value_info('i', TensorProto.INT64, [3])],
                              [helper.make_tensor_value_info('c', TensorProto.FLOAT, [1, 3, 4, 5]),
                               helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 3, 4, 6]),
                               helper.make_tensor_value_info('g', TensorProto.FLOAT, [3, 6])],
                              [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def compare_shared(cli, weight, folder):
    """One scale per channel wherever the operators allow it."""
    import numpy as np
    import onnx

    path, out = os.path.join(folder, 'shared.onnx'), os.path.join(folder, 'out.onnx')
    make_shared(path)
    run([cli, 'quantize', path, '-o', out, '--preset', 'dynamic', '--per-channel', '--weight', weight])
    onnx.checker.check_model(out, full_check=True)
    rand, stored = np.random.default_rng(4), constants(out)
    inputs = {'x': rand.normal(size=(1, 2, 6, 7)).astype(np.float32), 'i': np.array([0, 3, 1])}
    given = []
    for name, x in inputs.items():
        np.save(os.path.join(folder, name + '.npy'), x)
        given += ['--input', '%s=%s' % (name, os.path.join(folder, name + '.npy'))]
    exact, got = (oracle.open_session(p).run(None, inputs) for p in (path, out))
    run([cli, 'run', out, '-o', os.path.join(folder, 'o'), *given])
    ours = [np.load(os.path.join(folder, 'o', n + '.npy')) for n in 'cyg']
    worst = min(db(a, b) for a, b in zip(exact, got))
    channel = [db(exact[0][:, k], got[0][:, k]) for k in range(3)]
    shapes = [stored[n + '_scale'].shape for n in ('kernel', 'above', 'table')]
    good = worst > 30 and min(channel) > 30 and shapes == [(3, 1, 1), (4,), ()] and min(db(a, b) for a, b in zip(got, ours)) > 100
    print('%-34s %-8s %.1f dB, channels of the convolution %s, scales %s' % ('made by hand', weight, worst, np.round(channel, 1),
                                                                             shapes))
    return good


def main():
    import logging

    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    cli, program, stems = sys.argv[1], sys.argv[2], sys.argv[3:] or MODELS
    logging.disable(logging.WARNING)
    good = total = 0
    for stem in stems:
        with tempfile.TemporaryDirectory() as folder:
            prepared = os.path.join(folder, 'prepared.onnx')
            run([program, '--prepare', '13', os.path.join(shared, 'models', stem + '.onnx'), prepared])
            for per_channel in (False, True):
                total += 1
                try:
                    good += compare(cli, program, stem, prepared, per_channel, folder)
                except Exception as e:
                    print('%-34s FAILED: %s' % (stem, str(e).strip().splitlines()[-1][:300]))
    for weight in ('int8', 'uint8'):
        with tempfile.TemporaryDirectory() as folder:
            total += 1
            good += compare_shared(cli, weight, folder)
    print('%d of %d equal' % (good, total))
    sys.exit(0 if total > 0 and good == total else 1)


if __name__ == '__main__':
    main()
