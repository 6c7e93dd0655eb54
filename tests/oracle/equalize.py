#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""equalize.py CLI [--table] [MODEL...]: cross-layer equalization and correction of biases on real networks.

onnxruntime computes the same with equalized weights as before, and the ranges of channels that the edit log tells of lie
closer together. With --table: what both do to the error of the outputs, in onnxruntime, on photographs that were not
calibrated on; the reference is the network as it came.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
from end_to_end import session
from number_types import median_db
from presets import make_samples, save

# stem: passes before. Those bounded by 6 can be equalized only without the bound.
MODELS = {'cls_mobilenetv2_035_128_flowers': ['clip6-to-relu'], 'det_ultraface_rfb320_raw_bn': [], 'det_nanodet_m_320': [],
          'det_yunet_n_dynamic': []}
WAYS = {'plain': [], 'equalized': ['--equalize=amd'], 'corrected': ['--bias-correction=amd'],
        'both': ['--equalize=amd', '--bias-correction=amd'],
        'xslim': ['--equalize=ppq', '--equalize-level=2', '--equalize-activations=true', '--bias-correction=xslim']}
PRESETS = ['cpu', 'npu-cnn', 'xquant']
CLOSE_DB = 90     # float32's rounding through all layers


def prepare(cli, path, passes, folder, name):
    out = os.path.join(folder, name)
    arguments = [cli, 'prepare', path, '-o', out, '--json']
    for i in passes:
        arguments += ['--pass', i]
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return out, json.loads(done.stdout)


def spread(path):
    """By how many powers of two the largest range of a channel is larger than the median one: the mean over all Conv."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    found = []
    for node in graph.node:
        if node.op_type == 'Conv':
            w = constants[node.input[1]]
            ranges = np.abs(w.reshape(w.shape[0], -1)).max(axis=1)
            found.append(np.log2(ranges.max() / max(np.median(ranges), 1e-9)))
    return float(np.mean(found))


def compare(cli, shared, stem):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(shared, 'models', stem + '.onnx')
        before, _ = prepare(cli, path, MODELS.get(stem, []), folder, 'before.onnx')
        after, result = prepare(cli, path, MODELS.get(stem, []) + ['equalize'], folder, 'after.onnx')
        n = len([i for i in result['edits'] if i['pass'] == 'equalize'])
        held = make_samples(shared, before, stem)[1]
        db = median_db([session(before).run(None, i) for i in held], [session(after).run(None, i) for i in held])
        old, new = spread(before), spread(after)
        print('%-36s %3d equalized, outputs agree at %.0f dB, spread 2^%.2f -> 2^%.2f' % (stem, n, db, old, new), flush=True)
        return db >= CLOSE_DB and n > 0 and new < old


def measure(cli, path, preset, options, data, held, folder):
    """dB of the outputs in onnxruntime against the network as it came, over the held-out samples."""
    out = os.path.join(folder, 'quantized.onnx')
    done = subprocess.run([cli, 'quantize', path, '-o', out, '--preset', preset, '--data', data, '--held-out=0', '--skip-compare']
                          + options,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    reference, quantized = session(path), session(out)
    return median_db([reference.run(None, i) for i in held], [quantized.run(None, i) for i in held])


def tabulate(cli, shared, stems):
    print('| network, preset | ' + ' | '.join(WAYS) + ' |\n|---|' + '---|' * len(WAYS))
    for stem in stems:
        path = os.path.join(shared, 'models', stem + '.onnx')
        with tempfile.TemporaryDirectory() as folder:
            samples, held = make_samples(shared, path, stem)
            data = save(samples, folder)
            for preset in PRESETS:
                row = ['%.1f' % measure(cli, path, preset, i, data, held, folder) for i in WAYS.values()]
                print('| %s, %s | %s |' % (stem, preset, ' | '.join(row)), flush=True)


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    cli = os.path.abspath(sys.argv[1])
    stems = [i for i in sys.argv[2:] if not i.startswith('-')] or list(MODELS)
    if '--table' in sys.argv:
        tabulate(cli, shared, stems)
        return
    if not all([compare(cli, shared, i) for i in stems]):
        sys.exit('some networks compute something else, or are no more even than they were')


main()
