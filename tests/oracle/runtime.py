#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""runtime.py CLI RUNTIME-RUN [--quick] [NETWORK ...]: which nodes of an export ONNX Runtime computes on integers, in float, or
not at all, as the forecast has it, against the graph that ONNX Runtime makes of the export. At least 99 % of the nodes agree."""
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import runtime_exports as exports    # noqa: E402

LEAST = 0.99
QUICK = ['kws_micro_fp32', 'mnist_rten_op18', 'sr_espcn_bsd300_rgb', 'det_openseeface_mnv3']
INTEGER = {'QGemm', 'QAttention', 'MatMulInteger', 'ConvInteger', 'MatMulIntegerToFloat', 'DynamicQuantizeMatMul',
           'DynamicQuantizeLSTM'}
PAIRS = {'QuantizeLinear', 'DequantizeLinear'}
SMALL = {2, 3, 4, 5, 21, 22}    # element types: 8, 16 and 4 bits


def find_integers(model):
    """Names of the values that hold quantized integers."""
    found = {i.name for i in model.graph.initializer if i.data_type in SMALL} | {i.name for i in model.graph.input if
                                                                                 i.type.tensor_type.elem_type in SMALL}
    for node in model.graph.node:
        if node.op_type == 'QuantizeLinear' or (node.op_type.startswith('QLinear')) or (node.op_type == 'QGemm'
                                                                                        and len(node.input) == 9):
            found.update(node.output)
        elif node.op_type not in PAIRS | INTEGER and node.input and node.input[0] in found and node.op_type != 'ArgMax':
            found.update(node.output)
    return found


def list_real(model):
    """Kind of each node by its name, and by its first output."""
    integers = find_integers(model)
    names, outputs = {}, {}
    for node in model.graph.node:
        if node.op_type in PAIRS:
            continue
        kind = 'integer' if node.op_type.startswith('QLinear') or node.op_type in INTEGER else \
            'moves' if node.input and node.input[0] in integers else 'float'
        name = node.name.split('_token_')[0].removesuffix('_nchwc').removesuffix('/MatMulAddFusion')
        names.setdefault(name, kind)
        names.setdefault(name.removeprefix('fused '), kind)
        for output in node.output:
            outputs[output.split('_token_')[0].removesuffix('_pre_q')] = kind
    return names, outputs


def list_forecast(runtime_run, path, name):
    text = subprocess.run([runtime_run, *exports.SHAPES.get(name, []), path], check=True, capture_output=True, text=True).stdout
    rows = [line.split('\t') for line in text.splitlines()]
    return rows[0], [r for r in rows[1:] if r[0] != 'KERNEL' and r[2] not in PAIRS]


def compare(runtime_run, path, name, folder):
    """(nodes, those that agree, [what differs])"""
    names, outputs = list_real(exports.optimize(path, folder))
    _, rows = list_forecast(runtime_run, path, name)
    wrong = []
    kinds = {r[0]: r[3] for r in rows}
    has_split = any(name.endswith('GatherSliceToSplitFusion') for name in names)
    for label, output, op, kind, kernel, into, reason, _, _ in rows:
        # A node that took what followed it over makes that one's output under its own name: the name decides first.
        real = names.get(label) or outputs.get(output) or names.get(output, 'gone')
        guess = 'gone' if kind in ('absorbed', 'folded') else kind
        if guess == 'gone' and label not in names:
            continue    # what took it over makes its output
        if real == 'gone' and op == 'Slice' and kernel == 'Split' and has_split:
            continue    # of the Slices that are one Split neither has its name
        if kind == 'absorbed' and real == kinds.get(into) and into not in names:
            continue    # of two nodes that compute the same, the other one stays
        if real == 'gone' and kinds.get(label) == kind and any(r[5] == label and names.get(r[0]) == kind for r in rows):
            continue
        if real != guess:
            wrong.append(f'{op} {label}: {kind} ({kernel}, {reason}), ONNX Runtime: {real}')
    return len(rows), len(rows) - len(wrong), wrong


def main():
    args = [a for a in sys.argv[3:] if not a.startswith('--')]
    cli, runtime_run = sys.argv[1:3]
    if not os.path.isdir(exports.SHARED):
        oracle.skip('VN_SHARED is not set')
    total = same = 0
    short = []
    for name in args or (QUICK if '--quick' in sys.argv else exports.NETWORKS):
        with tempfile.TemporaryDirectory() as folder:
            for label, options in exports.list_variants(exports.model_path(name)).items():
                # which kernels products with ranges of their own become is not forecast, only their time
                if label == 'dynamic':
                    continue
                path = os.path.join(folder, label + '.onnx')
                error = exports.export(cli, name, options, path)
                if error:
                    print(f'{name:34} {label:10} no export: {error[:120]}')
                    continue
                try:
                    n, agree, wrong = compare(runtime_run, path, name, folder)
                except Exception as reason:    # ONNX Runtime's own, of files that it does not load
                    print(f'{name:34} {label:10} ONNX Runtime: {str(reason)[:160]}')
                    continue
                print(f'{name:34} {label:10} {agree} of {n} nodes agree: {100 * agree / n:.1f} %', flush=True)
                for line in wrong[:12 if '--verbose' in sys.argv else 3]:
                    print('    ', line)
                total, same = total + n, same + agree
                if agree < LEAST * n:
                    short.append(f'{name} {label}')
    print(f'{same} of {total} nodes agree: {100 * same / max(total, 1):.2f} %; '
          f'below {100 * LEAST:.0f} %: {", ".join(short) or "none"}')
    sys.exit(total == 0 or same < LEAST * total)


if __name__ == '__main__':
    main()
