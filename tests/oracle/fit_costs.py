#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fit_costs.py CLI [NETWORK ...] [--write] [--keep FILE]: measures each kernel that ONNX Runtime runs of real networks and of exports of
them, one thread, fits a fixed time and a time for each unit of work to each kind of kernel, and prints how well the sums agree; --write
puts the figures into src/runtime/vn-runtime-costs.def. --keep: measurements are kept there, and taken from there.

Being profiled costs each node some time, which is a third of what small networks seem to take: it follows from their runs without, and is
taken off."""
import collections
import itertools
import math
import os
import pickle
import sys
import tempfile
import time

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import runtime_exports as exports    # noqa: E402

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'runtime', 'vn-runtime-costs.def')
BY_INPUT = {'GlobalAveragePool', 'QLinearGlobalAveragePool', 'ReduceMean', 'ReduceMax', 'ReduceSum', 'ReorderInput', 'ReorderOutput'}
POOLS = {'AveragePool', 'MaxPool', 'NhwcMaxPool', 'QLinearAveragePool'}
PRODUCTS = {'Gemm', 'FusedGemm', 'MatMul', 'FusedMatMul', 'QLinearMatMul', 'QGemm', 'MatMulIntegerToFloat', 'MatMulNBits', 'MatMulInteger'}
TYPES = {'float': 'FLOAT', 'uint8': 'INT8', 'int8': 'INT8', 'uint16': 'INT16', 'int16': 'INT16'}
PAIRS = {'QuantizeLinear', 'DequantizeLinear'}
BROADCASTS = {'Add', 'Sub', 'Mul', 'Div', 'PRelu'}
FEWEST = 1
BLOCK = 16      # channels that kernels make at once
LEAST_FIXED = 500.0   # ns: what ONNX Runtime takes for any node
SMALL = 1000.0        # µs of a run: of larger networks the cost of being profiled is lost in chance
RUNS = 100


def count(shape):
    return float(math.prod(shape))


def count_rows(a, b):
    """In how many stretches two tensors are combined: within one, either both go on or one stays."""
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + list(a), [1] * (rank - len(b)) + list(b)
    mode, rows = None, 1.0
    for x, y in zip(reversed(a), reversed(b)):
        now = None if x == y == 1 else 'both' if x == y else 'one'
        if mode is None:
            mode = now
        elif now is not None and now != mode:
            mode = 'left'
        if mode == 'left':
            rows *= max(x, y)
    return rows


def moves_one_axis(perm):
    """Whether a Transpose only takes one axis to another place."""
    return any([p for p in perm if p != axis] == sorted(p for p in perm if p != axis) for axis in perm)


def describe(kernel, attrs, ins, outs):
    """(kernel, type, shape, unit) and (units, elements of the output, elements that the product gathers for it, stretches), or None."""
    name = kernel.split('.')[-1]
    if not ins or not outs:
        return None
    (dtype, shape), (out_type, out) = next(iter(ins[0].items())), next(iter(outs[0].items()))
    type_ = TYPES.get(out_type if name == 'QuantizeLinear' else dtype, 'FLOAT')
    if name == 'QLinearConcat':
        type_ = 'INT8'      # its first input is a scale
    if name.endswith('Conv') or name == 'ConvTranspose':
        window = count(attrs.get('kernel_shape', [1]))
        group = attrs.get('group', 1)
        axis = -1 if attrs.get('channels_last') else 1
        channels, made = shape[axis], out[axis]
        blocks = BLOCK if name == 'QLinearConv' or 'nchwc' in kernel else 1
        padded = math.ceil(made / group / blocks) * blocks * group if group == 1 else made
        pixels = count(out) / made
        if name == 'ConvTranspose':
            return (kernel, type_, 'ANY', 'MACS'), (count(shape) * window * made / group, count(out), 0.0, 0.0)
        if group > 1 and channels == made == group:
            return (kernel, type_, 'DEPTHWISE' if window == 9 else 'WIDE', 'MACS'), (count(out) * window, count(out), count(shape), 0.0)
        kind = 'GROUPED' if group > 1 else 'NARROW' if 'nchwc' in kernel and channels < BLOCK else 'POINTWISE' if window == 1 else \
            'DIRECT' if name == 'QLinearConv' and channels % 4 == 0 and made % BLOCK == 0 else 'DENSE'
        return (kernel, type_, kind, 'MACS'), (pixels * padded * window * channels / group, pixels * padded, pixels * window * channels,
                                                pixels * group * (window if name == 'QLinearConv' else 1))
    if name in PRODUCTS:
        inner = shape[-2 if attrs.get('transA') and len(shape) > 1 else -1] if shape else 1
        return (kernel, type_, 'ANY', 'MACS'), (count(out) * inner, count(out), count(shape), 0.0)
    if name in POOLS:
        return (kernel, type_, 'ANY', 'MACS'), (count(out) * count(attrs.get('kernel_shape', [1])), count(out), count(shape), 0.0)
    if name in BY_INPUT:
        return (kernel, type_, 'ANY', 'IN'), (count(shape), count(out), 0.0, 0.0)
    if name in BROADCASTS and len(ins) > 1 and not kernel.startswith('com'):
        return (kernel, type_, 'ANY', 'OUT'), (count(out), 0.0, 0.0, count_rows(shape, next(iter(ins[1].values()))))
    if name in PAIRS and len(ins) > 1 and count(next(iter(ins[1].values()))) > 1:    # where the scale changes
        axis = attrs.get('axis', 1) % len(shape)
        return (kernel, type_, 'ANY', 'OUT'), (count(out), 0.0, 0.0, count(shape[:axis + 1]))
    kind = 'ANY'
    if kernel == 'Resize':
        kind = 'LINEAR' if attrs.get('mode') == b'linear' else 'NEAREST'
    if kernel == 'Transpose' and not moves_one_axis(attrs.get('perm', range(len(shape))[::-1])):
        kind = 'GENERAL'
    if kernel == 'Slice' and any(step != 1 for step in attrs.get('steps', [])):
        kind = 'STRIDED'
    return (kernel, type_, kind, 'OUT'), (count(out), 0.0, 0.0, 0.0)


def get_attributes(node, constants):
    """With the steps of a Slice."""
    attrs = {a.name: a.i if a.type == 2 else a.s if a.type == 3 else list(a.ints) for a in node.attribute if a.type in (2, 3, 7)}
    if node.op_type == 'Slice' and len(node.input) > 4 and node.input[4] in constants:
        attrs['steps'] = [int(x) for x in constants[node.input[4]].reshape(-1)]
    return attrs


def measure_run(path, name):
    """Shortest microseconds of a run that is not profiled."""
    session = exports.open_session(path)
    feeds = exports.make_feeds(session, name)
    best = math.inf
    for _ in range(RUNS):
        began = time.perf_counter()
        session.run(None, feeds)
        best = min(best, time.perf_counter() - began)
    return best * 1e6


def find_overhead(found):
    """Nanoseconds that being profiled costs a node: in the middle of those of small networks."""
    costs = [(sum(row[-1] for row in rows) - run) / len(rows) for _, _, rows, run in found if rows and run < SMALL]
    return max(float(np.median(costs)), 0) * 1e3 if costs else 0.0


def measure(cli, names):
    """[(network, variant, [(kernel, attributes, inputs, outputs, microseconds)], microseconds of a run)]"""
    found = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            files = {'float': exports.model_path(name)}
            for label, options in exports.list_variants(files['float']).items():
                path = os.path.join(folder, label + '.onnx')
                if exports.export(cli, name, options, path) is None:
                    files[label] = path
            for label, path in files.items():
                try:
                    rows, constants = exports.profile(path, name, folder)
                except Exception as error:    # ONNX Runtime's own
                    print(f'{name} {label}: {str(error)[:120]}')
                    continue
                if not rows:
                    continue
                found.append((name, label, [(exports.get_kernel(node), get_attributes(node, constants), args['input_type_shape'],
                                             args['output_type_shape'], us) for node, args, us in rows], measure_run(path, name)))
        print('measured', name, flush=True)
    return found


def solve(features, times):
    """Least squares of the error beside a power of the time: between errors in sum and relative ones. No coefficient is
    below 0, the fixed time not below LEAST_FIXED."""
    weights = 1 / times ** 0.65
    n = features.shape[1]
    best, least = np.array([times.mean()] + [0.0] * (n - 1)), math.inf
    for size in range(n + 1):
        for columns in itertools.combinations(range(n), size):
            columns = list(columns)
            full = np.zeros(n)
            full[0] = 0 if 0 in columns else LEAST_FIXED
            if columns:
                full[columns] = np.linalg.lstsq(features[:, columns] * weights[:, None], (times - full[0]) * weights, rcond=None)[0]
            error = (((features @ full - times) * weights) ** 2).sum()
            if (full >= 0).all() and full[0] >= LEAST_FIXED and error < least * 0.999:
                best, least = full, error
    return best


def fit(found, overhead):
    groups = collections.defaultdict(list)
    for _, _, rows, _ in found:
        for kernel, attrs, ins, outs, us in rows:
            what = describe(kernel, attrs, ins, outs)
            if what:
                groups[what[0]].append((*what[1], max(us * 1e3 - overhead, LEAST_FIXED)))    # the profile has whole microseconds
    table = {}
    for key, rows in groups.items():
        if len(rows) < FEWEST:
            continue
        rows = np.array(rows)
        table[key] = solve(np.concatenate([np.ones((len(rows), 1)), rows[:, :-1]], axis=1), rows[:, -1])
    return table


def predict(table, rows, overhead):
    """Milliseconds of one run; kernels that the table lacks take what was measured."""
    total = 0.0
    for kernel, attrs, ins, outs, us in rows:
        what = describe(kernel, attrs, ins, outs)
        cost = table.get(what[0]) if what else None
        if cost is not None:
            total += float(cost @ np.array([1, *what[1]])) / 1e6
        else:
            total += max(us - overhead / 1e3, 0) / 1e3
    return total


def write(table):
    with open(TABLE, encoding='utf-8') as file:
        text = file.read()
    head, tail = text[:text.index('VN_RUNTIME_COST ("')], text[text.index('/* What was not measured'):]
    rows = ''
    for (kernel, type_, shape, unit), cost in sorted(table.items(), key=lambda row: (row[0][0], row[0][2] == 'ANY', row[0])):
        rows += f'VN_RUNTIME_COST ("{kernel}", {type_}, {shape}, {unit}, {cost[0]:.0f}, {cost[1]:.4g}, {cost[2]:.4g}, {cost[3]:.4g}, {cost[4]:.4g})\n'
    with open(TABLE, 'w', encoding='utf-8') as file:
        file.write(head + rows + '\n' + tail)


def main():
    args = sys.argv[1:]
    keep = args.pop(args.index('--keep') + 1) if '--keep' in args else None
    names = [a for a in args[1:] if not a.startswith('--')] or exports.NETWORKS
    if not os.path.isdir(exports.SHARED):
        oracle.skip('VN_SHARED is not set')
    if keep and os.path.exists(keep):
        with open(keep, 'rb') as file:
            found = pickle.load(file)
    else:
        found = measure(args[0], names)
        if keep:
            with open(keep, 'wb') as file:
                pickle.dump(found, file)
    overhead = find_overhead(found)
    print(f'being profiled costs a node {overhead:.0f} ns')
    table = fit(found, overhead)
    floats = {name: (predict(table, rows, overhead), run / 1e3) for name, label, rows, run in found if label == 'float'}
    for name, label, rows, run in found:
        if not rows or name not in floats or not floats[name][0]:
            continue
        total, known = predict(table, rows, overhead), run / 1e3
        print(f'{name:34} {label:10} fitted {total:8.3f} ms, measured {known:8.3f} ms; beside float x{total / floats[name][0]:.2f}, measured x{known / floats[name][1]:.2f}')
    print(len(table), 'kinds of kernel')
    if '--write' in args:
        write(table)


if __name__ == '__main__':
    main()
