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

print('failed' if failed else 'ok')
sys.exit(1 if failed else 0)
