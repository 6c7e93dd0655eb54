#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ppq_tables.py VERNIER_CLI: tables that PPQ and ESP-PPQ wrote, on networks with such tensors.

A small network is made of the operations of esp_mobilenet_v2.json, with its names; quantized with the table alone, each
tensor and weight of the export must have exactly the scale that the table has for it. Written tables with a scale for each
channel, with int16 and with offsets must be followed likewise, those of PPL and TensorRT read, and PPQ's settings, which
hold no table, refused.
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
from onnx import TensorProto, helper, numpy_helper

CLI = os.path.realpath(sys.argv[1])
PPQ = os.path.join(oracle.shared_folder(), 'interop', 'ppq')
failed = 0


def check(what, good):
    global failed
    if not good:
        print('not ok', what)
        failed += 1


def mobilenet_like(table, path):
    """Four channels everywhere, but the operations and names of the table."""
    rng = np.random.default_rng(1)
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    copies = {}   # tensors that PPQ has put in for changes of scale
    for name, tensors in table['configs'].items():
        if name.startswith('PPQ_Operation'):
            source, copy = tensors
            copies[copy] = source
    for name, tensors in table['configs'].items():
        names = [copies.get(n, n) for n in tensors]
        kind = name.rsplit('/', 1)[-1]
        if kind == 'Conv':
            first = not nodes
            constant(names[1], rng.normal(size=(4, 3, 3, 3) if first else (4, 4, 1, 1)) * .3)
            constant(names[2], rng.normal(size=4) * .1)
            nodes.append(helper.make_node('Conv', names[:3], names[3:], name))
        elif kind == 'Clip':
            constant(names[1], 0)
            constant(names[2], 6)
            nodes.append(helper.make_node('Clip', names[:3], names[3:], name))
        elif kind == 'Gemm':
            constant(names[1], rng.normal(size=(5, 4)))
            constant(names[2], rng.normal(size=5))
            nodes.append(helper.make_node('Gemm', names[:3], names[3:], name, transB=1))
        elif kind == 'Flatten':
            nodes.append(helper.make_node('Flatten', names[:1], names[1:], name))
        elif kind in ('Add', 'GlobalAveragePool'):
            if names[0].startswith('PPQ_Variable'):   # what the block before it makes
                before = '/features/features.%d/' % (int(name.split('.')[1].split('/')[0]) - 1)
                names[0] = [n.output[0] for n in nodes if n.output[0].startswith(before)][-1]
            nodes.append(helper.make_node(kind, names[:-1], names[-1:], name))
    made = {o for n in nodes for o in n.output}
    ends = made - {i for n in nodes for i in n.input}
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('input.1', TensorProto.FLOAT, [1, 3, 8, 8])],
                              [helper.make_tensor_value_info(e, TensorProto.FLOAT, None) for e in sorted(ends)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return {c.name for c in constants if len(c.dims) > 1}


def run(model, table, out, *options):
    return subprocess.run([CLI, 'quantize', model, '-o', out, '--ranges', table, *options], capture_output=True, text=True)


def quantize(model, table, out, *options):
    done = run(model, table, out, *options)
    check(f'{table}: {done.stderr}', done.returncode == 0)
    onnx.checker.check_model(out, full_check=True)
    oracle.open_session(out)
    graph = onnx.load(out).graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    found = {}
    for node in graph.node:
        if node.op_type == 'QuantizeLinear':
            found[node.input[0]] = (constants[node.input[1]], constants[node.input[2]])
        elif node.op_type == 'DequantizeLinear' and node.input[0] in constants:
            found[node.input[0].removesuffix('_quantized')] = (constants[node.input[1]], constants[node.input[2]])
    return found


def of_table(table):
    """The first operation decides about a tensor."""
    found = {}
    for tensors in table['configs'].values():
        for tensor, config in tensors.items():
            if str(config['dominator']) in table['values'] and config['bit_width'] <= 16:
                found.setdefault(tensor, table['values'][str(config['dominator'])])
    return found


def compare(what, found, expected, dtype, least):
    n = 0
    for name, (scale, zero) in found.items():
        if name not in expected or zero.dtype == np.int32:
            continue
        n += 1
        value = expected[name]
        check(f'{what}: {name}: {scale}, expected {value["scale"]}',
              np.array_equal(scale, np.float32(value['scale'])))
        check(f'{what}: {name}: {zero.dtype} {zero}, expected {value["zero_point"]}',
              zero.dtype == dtype(name) and np.array_equal(zero.astype(np.float64), value['zero_point']))
    print(what, n, 'tensors')
    check(f'{what}: {n} tensors', n >= least)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    path = os.path.join(PPQ, 'esp_mobilenet_v2.json')
    with open(path, encoding='utf-8') as file:
        table = json.load(file)
    weights = mobilenet_like(table, 'net.onnx')
    found = quantize('net.onnx', path, 'out.onnx')
    check('all weights', weights <= set(found))
    compare('esp_mobilenet_v2', found, of_table(table), lambda name: np.int8, 100)

    # a scale for each channel of the weights, int16 activations with offsets
    rng = np.random.default_rng(2)
    for tensors in table['configs'].values():
        for tensor, config in tensors.items():
            value = table['values'].get(str(config['hash']))
            if value is None or config['bit_width'] > 16:
                continue
            if tensor in weights:
                n = 5 if tensor == 'classifier.1.weight' else 4
                value['scale'] = [float(s) for s in rng.uniform(.001, .01, n).astype(np.float32)]
                value['zero_point'] = [0.0] * n
            else:
                value['zero_point'] = float(rng.integers(-1000, 1000))
    for tensors in table['configs'].values():
        for tensor, config in tensors.items():
            if tensor not in weights and config['bit_width'] <= 16:
                config.update(bit_width=16, quant_min=-32768, quant_max=32767)
    with open('channels.json', 'w', encoding='utf-8') as file:
        json.dump(table, file)
    found = quantize('net.onnx', 'channels.json', 'out.onnx')
    compare('a scale for each channel, int16', found, of_table(table),
            lambda name: np.int8 if name in weights else np.int16, 100)

    # PPL, TensorRT: what is not in them is calibrated
    for file, dtype in (('ppl_nn_quant_test', np.uint8), ('ppq_test_qparams', np.int8)):
        with open(os.path.join(PPQ, file + '.json'), encoding='utf-8') as f:
            info = json.load(f)
        info['quant_info'] = {{'input': 'input.1', '5': '/GlobalAveragePool_output_0'}.get(k, k): v
                              for k, v in info['quant_info'].items()}
        with open('info.json', 'w', encoding='utf-8') as f:
            json.dump(info, f)
        found = quantize('net.onnx', 'info.json', 'out.onnx', '--data', 'random')
        compare(file, found, info['quant_info'], lambda name, dtype=dtype: dtype, len(info['quant_info']))
    with open('trt.json', 'w', encoding='utf-8') as f:
        json.dump({'act_quant_info': {'input.1': 1.27}}, f)
    scale, zero = quantize('net.onnx', 'trt.json', 'out.onnx', '--data', 'random', '--activation', 'int8',
                           '--symmetric-activations')['input.1']
    check(f'TensorRT: {scale}', abs(scale - .01) < 1e-8 and zero == 0)

    done = run('net.onnx', os.path.join(PPQ, 'tensorrt_quant_config.json'), 'out.onnx')
    check(done.stderr, done.returncode == 1 and 'TensorRT' in done.stderr)
    # of a network of other names
    done = run('net.onnx', os.path.join(PPQ, 'esp_yolo26n_512_s8_p4.json'), 'out.onnx', '--data', 'random')
    check(done.stderr, done.returncode == 0 and 'not in the prepared model' in done.stdout + done.stderr)
    # a format that has no int16
    done = run('net.onnx', 'channels.json', 'out.onnx', '--format', 'qoperator')
    check(done.stderr, done.returncode == 1 and 'does not support int16' in done.stderr)

print('failed' if failed else 'ok')
sys.exit(1 if failed else 0)
