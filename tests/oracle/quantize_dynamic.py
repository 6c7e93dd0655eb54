#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_dynamic.py VERNIER_CLI QUANTIZE_RUN [MODEL...]: IntegerOps with ranges found while running, against
onnxruntime.quantization's quantize_dynamic on the same prepared network: every stored integer, scale and zero point, how many
nodes of each operator, and what both exports compute on the same random inputs; and our own run of our export."""
import collections
import os
import subprocess
import sys
import tempfile

import oracle

MODELS = ['txt_bert_toy_op12_unsorted', 'aud_dtln_1_lstm', 'kws_micro_fp32', 'txt_tashkeel_transformer_fp32', 'mnist_cntk_op8',
          'vit_cct2_32_op20', 'aud_yamnet256_st']
SIMULATION_DB = 40


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


def compare_constants(ours, theirs):
    import numpy as np

    a, b = constants(ours), constants(theirs)
    names = [n for n in sorted(b) if n.endswith(('_quantized', '_scale', '_zero_point'))]
    wrong = [n for n in names if n not in a or a[n].dtype != b[n].dtype or not np.array_equal(a[n].ravel(), b[n].ravel())]
    lines = ['%s: %s, theirs %s' % (n, a[n].ravel()[:4] if n in a else 'missing', b[n].ravel()[:4]) for n in wrong]
    if operators(ours) != operators(theirs):
        lines.append('operators: %s, theirs %s' % (dict(operators(ours)), dict(operators(theirs))))
    return len(names), lines if names else ['nothing was compared']


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


def compare_runs(cli, ours, theirs, folder):
    """Lines about outputs of onnxruntime on both files, and of our engine on ours, that are too far apart."""
    import numpy as np
    import onnxruntime as ort

    session, peer = ort.InferenceSession(ours), ort.InferenceSession(theirs)
    inputs = make_inputs(session, folder)
    expected, other = session.run(None, inputs), peer.run(None, inputs)
    out = os.path.join(folder, 'out')
    given = [x for i, name in enumerate(inputs) for x in ('--input', '%s=%s' % (name, os.path.join(folder, '%d.npy' % (i + 1))))]
    run([cli, 'run', ours, '-o', out, *given])
    lines, worst = [], float('inf')
    for output, a, b in zip(session.get_outputs(), expected, other):
        if a.dtype != np.float32 or a.size == 0:
            continue
        simulated = np.load(os.path.join(out, output.name.replace('/', '_').replace(':', '_') + '.npy'))
        worst = min(worst, db(a, simulated))
        if db(a, simulated) < SIMULATION_DB:
            lines.append('%s: our run is %.1f dB from onnxruntime' % (output.name, db(a, simulated)))
        if db(b, a) < SIMULATION_DB:
            lines.append("%s: the peer's file gives %.1f dB" % (output.name, db(b, a)))
    return worst, lines


def compare(cli, program, stem, prepared, per_channel, folder):
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    ours, theirs = os.path.join(folder, 'ours.onnx'), os.path.join(folder, 'theirs.onnx')
    run([cli, 'quantize', prepared, '-o', ours, '--preset', 'dynamic'] + ['--per-channel'] * per_channel)
    onnx.checker.check_model(ours, full_check=True)
    quantize_dynamic(prepared, theirs, weight_type=QuantType.QInt8, per_channel=per_channel)
    n, lines = compare_constants(ours, theirs)
    worst, more = compare_runs(cli, ours, theirs, folder)
    lines += more
    print('%-34s %-8s %4d constants, %d findings; our run %.1f dB from onnxruntime'
          % (stem, 'channel' if per_channel else 'tensor', n, len(lines), worst))
    for line in lines[:8]:
        print('    ' + line)
    return not lines


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
    print('%d of %d equal' % (good, total))
    sys.exit(0 if total > 0 and good == total else 1)


if __name__ == '__main__':
    main()
