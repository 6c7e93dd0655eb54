#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""compare.py CLI SOURCE_DIR

`compare` against the debugger of onnxruntime.quantization, on the demo network that its quantizer has quantized: the error of
each weight, of each tensor to the float network, and of each pair of quantization and dequantization alone, in dB."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime.quantization as quantization  # noqa: E402
from onnxruntime.quantization import qdq_loss_debug as debug  # noqa: E402
from PIL import Image  # noqa: E402

cli, source = sys.argv[1:3]
demo = os.path.join(source, 'data', 'demo')
N_SAMPLES = 6
failed = 0


class Reader(quantization.CalibrationDataReader):
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(self.samples, None)


def expect(good, what):
    global failed
    if not good:
        failed += 1
        print('not ok:', what)


def run(*args):
    done = subprocess.run([cli, *args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit('%s: %s' % (' '.join(args), done.stderr + done.stdout))
    return done.stdout


def number(text):
    return float(text)


def check(folder, prepared, samples, per_channel):
    quantized = os.path.join(folder, 'quantized.onnx')
    quantization.quantize_static(prepared, quantized, Reader(samples), quant_format=quantization.QuantFormat.QDQ,
                                 per_channel=per_channel,
                                 activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)
    report = json.loads(run('compare', prepared, quantized, '--data', os.path.join(folder, 'samples'), '--json'))['report']

    ours = {row['tensor']: row for row in report['weights']}
    n_weights = 0
    for name, pair in debug.create_weight_matching(prepared, quantized).items():
        want = debug.compute_signal_to_quantization_noice_ratio([pair['float']], [pair['dequantized']])
        expect(name in ours, 'no weight ' + name)
        if name in ours:
            n_weights += 1
            expect(abs(number(ours[name]['sqnr_db']) - want) < 0.01 or want > 100,
                   'weight %s: %s dB, not %g' % (name, ours[name]['sqnr_db'], want))

    collected = []
    for model in (prepared, quantized):
        taps = os.path.join(folder, 'taps.onnx')
        debug.modify_model_output_intermediate_tensors(model, taps)
        collected.append(debug.collect_activations(taps, Reader(samples)))
    errors = debug.compute_activation_error(debug.create_activation_matching(collected[1], collected[0]))
    ours = {row['tensor']: row for row in report['tensors']}
    n_tensors = n_local = 0
    for name, error in errors.items():
        if name not in ours or 'xmodel_err' not in error:
            continue
        n_tensors += 1
        got = number(ours[name]['sqnr_db'])
        expect(abs(got - error['xmodel_err']) < 0.3 or min(got, error['xmodel_err']) > 100,
               '%s: %g dB to the float network, not %g' % (name, got, error['xmodel_err']))
        if 'local_sqnr_db' in ours[name]:
            n_local += 1
            got = number(ours[name]['local_sqnr_db'])
            expect(abs(got - error['qdq_err']) < 0.3 or min(got, error['qdq_err']) > 100,
                   '%s: %g dB of the pair, not %g' % (name, got, error['qdq_err']))
    expect(n_weights > 15 and n_tensors > 15 and n_local > 10, 'only %d, %d and %d compared' % (n_weights, n_tensors, n_local))
    print('%d weights, %d tensors and %d pairs as the debugger of ONNX Runtime says' % (n_weights, n_tensors, n_local))


with tempfile.TemporaryDirectory() as folder:
    prepared = os.path.join(folder, 'prepared.onnx')
    run('prepare', os.path.join(demo, 'demo.onnx'), '-o', prepared)
    name = onnx.load(prepared).graph.input[0].name
    os.makedirs(os.path.join(folder, 'samples'))
    samples = []
    for i, kind in enumerate(sorted(os.listdir(os.path.join(demo, 'samples')))[:N_SAMPLES]):
        place = os.path.join(demo, 'samples', kind)
        picture = Image.open(os.path.join(place, sorted(os.listdir(place))[0])).convert('RGB')
        x = ((np.asarray(picture, np.float32) - np.float32(127.5)) / np.float32(127.5)).transpose(2, 0, 1)[None]
        np.save(os.path.join(folder, 'samples', '%d.npy' % i), x)
        samples.append({name: x})
    for per_channel in (False, True):
        check(folder, prepared, samples, per_channel)
print('failed' if failed else 'passed')
sys.exit(failed > 0)
