#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""mixed_types.py CLI [MODEL]: several number types in one network, each end to end on a real one.

AMD's configuration for mixed precision as it is and with a layer of this network, 16 bit activations in a region, 4 bit weights
in one node, float16 beside int8, blocks beside 8 bit. The export passes onnx.checker, runs in stock onnxruntime and in our own
engine alike; every type that was asked for is there; and no tensor is converted to one type twice.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
from end_to_end import ITSELF_DB, session
from number_types import AGREEMENT_DB, ROUNDING_DB, make_samples, median_db, run_ours

MODEL = 'cls_ppocr_v2_angle'
FORTH = ('QuantizeLinear', 'ExtendedQuantizeLinear', 'BFPQuantizeDequantize', 'MXQuantizeDequantize')
EXTENDED = {'format': 'extended'}


def convolutions(path):
    """Conv nodes in order: name, first input, output, or that of the BatchNormalization behind, which is folded into them."""
    import onnx

    nodes = onnx.load(path).graph.node
    normalized = {n.input[0]: n.output[0] for n in nodes if n.op_type == 'BatchNormalization'}
    return [(n.name, n.input[0], normalized.get(n.output[0], n.output[0])) for n in nodes if n.op_type == 'Conv']


def make_cases(shared, convs):
    """Label, settings or configuration, types of quantized tensors that must occur."""
    amd = json.load(open(os.path.join(shared, 'interop', 'amd', 'vai_q_mix_precision_config.json'), encoding='utf-8'))
    named = json.loads(json.dumps(amd))
    named['layer_quantize_config'][1]['layer_name'] = convs[3][0]
    first, last = convs[5], convs[7]
    rule = lambda pattern, **settings: {'nodes': pattern, **settings}
    region = {'from': [first[1]], 'to': [last[2]]}
    return [
        ('AMD, as it is', amd, {'BFLOAT16', 'INT8'}),
        ('AMD, with a layer', named, {'BFLOAT16', 'INT8', 'INT16'}),
        ('A16W8 in a region', {'rules': [{**region, 'activation': 'uint16'}]}, {'UINT8', 'UINT16', 'INT8'}),
        ('int4 in a node', {'rules': [rule(convs[2][0], weight='int4')]}, {'UINT8', 'INT8', 'INT4'}),
        ('float16 beside int8', {**EXTENDED, 'activation': 'int8',
                                 'rules': [rule(convs[5][0], activation='float16', weight='float16')]},
         {'INT8', 'FLOAT16'}),
        ('blocks beside int8', {**EXTENDED, 'activation': 'bfp16', 'weight': 'bfp16',
                                'rules': [rule('type:Conv', activation='int8', weight='int8')]},
         {'INT8', 'BFPQuantizeDequantize'}),
        ('int4 in a region, int16 around', {**EXTENDED, 'activation': 'int16',
                                            'rules': [{**region, 'activation': 'uint4', 'weight': 'int4'}]},
         {'INT16', 'UINT4', 'INT4'}),
        ('all at once', {**EXTENDED, 'activation': 'uint8', 'weight': 'int8', 'rules': [
            rule(convs[1][0], activation='bfloat16', weight='float8e4m3fn'), rule(convs[3][0], activation='mx9', weight='mx9'),
            rule(convs[5][0], activation='int32', weight='int16'), rule(convs[7][0], activation='uint4', weight='uint4')]},
         {'UINT8', 'INT8', 'BFLOAT16', 'FLOAT8E4M3FN', 'MXQuantizeDequantize', 'BFPQuantizeDequantize', 'INT32', 'INT16',
          'UINT4'}),
    ]


def write_settings(settings, folder):
    """Options for a configuration of AMD or a recipe of ours."""
    path = os.path.join(folder, 'settings.json')
    ours = 'layer_quantize_config' not in settings
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'vernier-recipe': 1, 'preset': 'cpu', **settings} if ours else settings, file)
    return ['--recipe' if ours else '--config', path]


def conversions(path):
    """Counter of (float tensor, type it is converted to), and the types of all that is stored or converted."""
    import onnx
    from onnx import TensorProto

    model = onnx.load(path)
    types = {i.name: i.data_type for i in model.graph.initializer}
    found, seen = collections.Counter(), set()
    for node in model.graph.node:
        if node.op_type in FORTH:
            kind = TensorProto.DataType.Name(types[node.input[2]]) if len(node.input) > 2 else node.op_type
            found[node.input[0], kind] += 1
            seen.add(kind)
        elif node.op_type == 'Cast':
            to = next(a.i for a in node.attribute if a.name == 'to')
            if to in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
                found[node.input[0], TensorProto.DataType.Name(to)] += 1
                seen.add(TensorProto.DataType.Name(to))
        elif node.op_type.endswith('DequantizeLinear') and node.input[0] in types:
            seen.add(TensorProto.DataType.Name(types[node.input[0]]))
    if any(n.op_type == 'BFPQuantizeDequantize' for n in model.graph.node):
        seen.add('MXQuantizeDequantize')   # MX9 is block floating point to AMD
    return found, seen


def examine(cli, path, settings, wanted, samples, sizes, folder):
    """What is wrong, and a line about it."""
    import onnx

    out = os.path.join(folder, 'out.onnx')
    command = [cli, 'quantize', path, '-o', out, '--data=random', '--samples=4', '--held-out=0', '--skip-compare', *sizes,
               *write_settings(settings, folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr.strip()[:300]], ''
    onnx.checker.check_model(out, full_check=True)
    found, seen = conversions(out)
    wrong = [f'{n} pairs for {name} to {kind}' for (name, kind), n in found.items() if n > 1]
    wrong += [f'no {kind}' for kind in sorted(wanted - seen)]
    written, optimised, plain = session(out, as_written=True), session(out), session(path, as_written=True)
    names = [o.name for o in written.get_outputs()]
    expected = [written.run(None, feeds) for feeds in samples]
    agreement = median_db(expected, [run_ours(cli, out, feeds, names, folder) for feeds in samples])
    itself = median_db(expected, [optimised.run(None, feeds) for feeds in samples])
    error = median_db([plain.run(None, feeds) for feeds in samples], expected)
    if agreement < min(AGREEMENT_DB, max(error + ROUNDING_DB, 0)) and agreement < itself - ITSELF_DB:
        wrong.append(f'our run agrees to {agreement:.1f} dB only')
    if itself < AGREEMENT_DB and itself < error + ROUNDING_DB:
        wrong.append(f'optimised, onnxruntime gives something else: {itself:.1f} dB')
    return wrong, (f'{sum(found.values())} conversions, agrees to {agreement:.1f} dB, optimised {itself:.1f}, '
                   f'{error:.1f} dB of float')


def main():
    oracle.use_oracle_python()
    shared, cli, stem = oracle.shared_folder(), sys.argv[1], (sys.argv[2:] or [MODEL])[0]
    path = os.path.join(shared, 'models', stem + '.onnx')
    samples, bad, cases = make_samples(path, stem), 0, make_cases(shared, convolutions(path))
    sizes = [f'--shape={name}=' + 'x'.join(str(d) for d in x.shape) for name, x in samples[0].items() if x.ndim > 0]
    for label, settings, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            wrong, text = examine(cli, path, settings, wanted, samples, sizes, folder)
        bad += bool(wrong)
        print(f'{label:34} {text} {"WRONG: " + "; ".join(wrong[:4]) if wrong else ""}', flush=True)
    print(f'{len(cases)} networks, {bad} wrong')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
