#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fit_costs.py CLI [NETWORK ...] [--write] [--keep FILE] [--exports FOLDER] [--times INSTRUCTIONS]: measures each kernel that
ONNX Runtime runs of real and of made networks and of exports of them, one thread, fits a fixed time and a time for each unit of
work to each kind of kernel, and prints how well the sums agree, also where each network is told by what was measured of the
others. --write puts the figures into src/runtime/vn-runtime-costs.def, with the margin that follows; --times: the measured ratios
into runtime-times.tsv, as those of a processor with such instructions. --keep: measurements are kept there, and taken from there;
--exports: files of exports are.

Being profiled costs each node some time, which is a third of what small networks seem to take: it follows from their runs
without, and is taken off. The computer should do nothing else meanwhile; mask-instructions.c makes one processor pass for an
older one."""
import collections
import itertools
import math
import os
import pickle
import re
import sys
import tempfile
import time

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import runtime_exports as exports    # noqa: E402

TIMES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'runtime-times.tsv')
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'runtime', 'vn-runtime-costs.def')
BY_INPUT = {'GlobalAveragePool', 'QLinearGlobalAveragePool', 'ReduceMean', 'ReduceMax', 'ReduceSum', 'ReorderInput',
            'ReorderOutput'}
POOLS = {'AveragePool', 'MaxPool', 'NhwcMaxPool', 'QLinearAveragePool'}
PRODUCTS = {'Gemm', 'FusedGemm', 'MatMul', 'FusedMatMul', 'QLinearMatMul', 'QGemm', 'MatMulIntegerToFloat', 'MatMulNBits',
            'MatMulInteger',
            'DynamicQuantizeMatMul'}
TYPES = {'float': 'FLOAT', 'uint8': 'INT8', 'int8': 'INT8', 'uint16': 'INT16', 'int16': 'INT16'}
RECURRENT = {'LSTM': 4, 'DynamicQuantizeLSTM': 4, 'GRU': 3, 'RNN': 1}    # gates
PAIRS = {'QuantizeLinear', 'DequantizeLinear'}
BROADCASTS = {'Add', 'Sub', 'Mul', 'Div', 'PRelu'}
FEW = 4             # sizes of a kernel: fewer do not tell what it costs by what
UNKNOWN = 0.4        # ns for each element that a kernel makes which was never measured
MOST_RUN, MOST_NODE = 40.0, 3.0    # µs that a run may take beside its nodes, and being profiled
BLOCK = 16      # channels that kernels make at once
LEAST_FIXED = 500.0   # ns: what ONNX Runtime takes for any node
LEAST_TURNS, MOST_TURNS, RUNS, TURN = 2, 20, 8, 0.04    # runs of a turn, and seconds of one at most
SMALL = 3000.0        # µs of a run: of larger networks the cost of being profiled is lost in chance


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
    """(kernel, type, shape, unit) and (units, elements of the output, elements that the product gathers for it, stretches), or
    None."""
    name = kernel.split('.')[-1]
    if not ins or not outs:
        return None
    (dtype, shape), (out_type, out) = next(iter(ins[0].items())), next(iter(outs[0].items()))
    type_ = TYPES.get(out_type if name == 'QuantizeLinear' else dtype, 'FLOAT')
    if name == 'QLinearConcat':
        type_ = 'INT8'      # its first input is a scale
    if name in RECURRENT:
        steps, batch, read = shape
        ways = 2 if attrs.get('direction') == b'bidirectional' else 1
        made = steps * batch * ways * attrs['hidden_size']
        return (kernel, type_, 'ANY', 'MACS'), (made * RECURRENT[name] * (read + attrs['hidden_size']), made, count(shape),
                                                steps * ways)
    if name.endswith('Conv') or name in ('ConvTranspose', 'ConvInteger'):
        window = count(attrs.get('kernel_shape', attrs.get('weight', [1])[2:]))
        group = attrs.get('group', 1)
        axis = -1 if attrs.get('channels_last') else 1
        channels, made = shape[axis], out[axis]
        integers = name in ('QLinearConv', 'ConvInteger')
        blocks = BLOCK if integers or 'nchwc' in kernel else 1
        padded = math.ceil(made / group / blocks) * blocks * group if group == 1 else made
        pixels = count(out) / made
        if name == 'ConvTranspose':
            return (kernel, type_, 'ANY', 'MACS'), (count(shape) * window * made / group, count(out), 0.0, 0.0)
        if group > 1 and channels == made == group:
            left = pixels * window * (made % BLOCK) if integers else count(out)
            rows = pixels * window if integers else float(group)
            return ((kernel, type_, 'DEPTHWISE' if window == 9 else 'WIDE', 'MACS'),
                    (count(out) * window, left, count(shape), rows))
        kind = ('GROUPED' if group > 1 else 'NARROW' if 'nchwc' in kernel and channels < BLOCK
                else 'POINTWISE' if window == 1
                else 'DIRECT' if integers and channels % 4 == 0 and made % BLOCK == 0 else 'DENSE')
        return ((kernel, type_, kind, 'MACS'),
                (pixels * padded * window * channels / group, pixels * padded, pixels * window * channels,
                 pixels * group * (window if integers else 1)))
    if name == 'MatMulNBits':
        bits, block = attrs.get('bits', 4), attrs['block_size']
        rounded = attrs.get('accuracy_level', 0) == 4 and (bits != 2 or 32 <= block <= 128)
        kind = 'ZEROS' if attrs.get('float_zeros') else 'ROUNDED' if rounded else 'BITS'
        return ((kernel, type_, '%s%d' % (kind, bits), 'MACS'),
                (count(out) * attrs['K'], count(out), float(attrs['N'] * attrs['K']), 0.0))
    if name in PRODUCTS:
        inner = shape[-2 if attrs.get('transA') and len(shape) > 1 else -1] if shape else 1
        weight = count(attrs['weight']) if 'weight' in attrs else inner * count(out[-1:]) * count(out[:-2])
        return (kernel, type_, 'ANY', 'MACS'), (count(out) * inner, count(out), weight, 0.0)
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
    """With the steps of a Slice, the sizes of the weight, and whether zero points are floats."""
    attrs = {a.name: a.i if a.type == 2 else a.s if a.type == 3 else list(a.ints) for a in node.attribute if a.type in (2, 3, 7)}
    if node.op_type == 'Slice' and len(node.input) > 4 and node.input[4] in constants:
        attrs['steps'] = [int(x) for x in onnx.numpy_helper.to_array(constants[node.input[4]]).reshape(-1)]
    place = 3 if node.op_type.startswith('QLinear') or node.op_type == 'QGemm' else 1
    if len(node.input) > place and node.input[place] in constants:
        attrs['weight'] = list(constants[node.input[place]].dims)
    if node.op_type == 'MatMulNBits' and len(node.input) > 3 and node.input[3] in constants:
        attrs['float_zeros'] = constants[node.input[3]].data_type != onnx.TensorProto.UINT8
    return attrs


def measure_runs(files, name):
    """Shortest microseconds of a run of each file that is not profiled, in turns: what else the computer does strikes all alike.
    Each is run several times in its turn, as one that is deployed: what the others have thrown out of the caches has to come back
    first."""
    sessions = [exports.open_session(path) for path in files]
    feeds = exports.make_feeds(sessions[0], name)
    best, began = [math.inf] * len(files), time.perf_counter()
    for turn in range(MOST_TURNS):
        for k, session in enumerate(sessions):
            for _ in range(max(2, min(RUNS, int(TURN / best[k])))):
                start = time.perf_counter()
                session.run(None, feeds)
                best[k] = min(best[k], time.perf_counter() - start)
        if turn >= LEAST_TURNS and time.perf_counter() - began > exports.SECONDS * len(files):
            break
    return [b * 1e6 for b in best]


def find_overhead(found):
    """Nanoseconds that being profiled costs a node, and that a run takes beside its nodes: by small networks."""
    small = [(len(rows), sum(row[-1] for row in rows), run) for _, _, rows, run in found if rows and run < SMALL]
    if len(small) < 2:
        return 0.0, 0.0
    nodes, profiled, known = np.array(small, float).T
    best, least = (0.0, 0.0), math.inf
    for run in np.arange(0, MOST_RUN, 0.5):
        for node in np.arange(0, MOST_NODE, 0.05):
            told = np.maximum(profiled - node * nodes, LEAST_FIXED / 1e3 * nodes) + run
            error = float(np.abs(np.log(told / known)).sum())    # not squared: some are measured in bad moments
            if error < least:
                best, least = (node * 1e3, run * 1e3), error
    return best


def profile(path, name):
    with tempfile.TemporaryDirectory() as folder:
        rows, constants = exports.profile(path, name, folder)
    return [(exports.get_kernel(node), get_attributes(node, constants), args['input_type_shape'], args['output_type_shape'], us)
            for node, args, us in rows]


def list_all_variants(path):
    return {**exports.list_variants(path), **exports.list_weight_variants(path)}


def measure(cli, names, folder):
    """[(network, variant, [(kernel, attributes, inputs, outputs, microseconds)], microseconds of a run)]"""
    found = []
    for name in names:
        files, rows = exports.export_all(cli, name, folder, variants=list_all_variants), {}
        for label in list(files):
            try:
                rows[label] = profile(files[label], name)
            except Exception as error:    # ONNX Runtime's own
                print(f'{name} {label}: {str(error)[:120]}')
                del files[label]
        if 'float' not in files:
            continue
        for label, run in zip(files, measure_runs(list(files.values()), name)):
            found.append((name, label, rows[label], run))
        print('measured', name, *(f'{f[1]} {f[3]:.0f}' for f in found if f[0] == name), flush=True)
    return found


def solve(features, times):
    """Of kernels that were met in a few sizes only the time is proportional to the units of work, as far as they have any. Of
    others: least squares of the error beside a power of the time: between errors in sum and relative ones. No coefficient is
    below 0, the fixed time not below LEAST_FIXED."""
    weights = 1 / times ** 0.65
    n = features.shape[1]
    if len(np.unique(features, axis=0)) < FEW and features[:, 1].all():
        return np.array([LEAST_FIXED, max(float(np.median((times - LEAST_FIXED) / features[:, 1])), 0)] + [0.0] * (n - 2))
    best, least = np.array([times.mean()] + [0.0] * (n - 1)), math.inf
    for size in range(n + 1):
        for columns in itertools.combinations(range(n), size):
            columns = list(columns)
            full = np.zeros(n)
            full[0] = 0 if 0 in columns else LEAST_FIXED
            if columns:
                full[columns] = np.linalg.lstsq(features[:, columns] * weights[:, None], (times - full[0]) * weights,
                                                rcond=None)[0]
            error = (((features @ full - times) * weights) ** 2).sum()
            if (full >= 0).all() and full[0] >= LEAST_FIXED and error < least * 0.999:
                best, least = full, error
    return best


def describe_all(found, overhead):
    """[(network, variant, [(kind of kernel, features, nanoseconds, elements made)], nanoseconds of a run)]"""
    described = []
    for name, label, rows, run in found:
        nodes = []
        for kernel, attrs, ins, outs, us in rows:
            what = describe(kernel, attrs, ins, outs)
            made = count(next(iter(outs[0].values()))) if outs else 0.0
            time_ = max(us * 1e3 - overhead, LEAST_FIXED)    # the profile has whole microseconds
            nodes.append((what[0] if what else None, np.array([1, *what[1]]) if what else None, time_, made))
        described.append((name, label, nodes, run * 1e3))
    return described


def fit(described, without=None, kinds=None):
    """Kind of kernel -> coefficients, by all networks but one; of all kinds, or some."""
    groups = collections.defaultdict(list)
    for name, _, nodes, _ in described:
        if name == without:
            continue
        for key, features, time_, _ in nodes:
            if key and (kinds is None or key in kinds):
                groups[key].append((*features, time_))
    return {key: solve(np.array(rows)[:, :-1], np.array(rows)[:, -1]) for key, rows in groups.items()}


def predict(table, nodes):
    """Nanoseconds of the nodes of one run; kernels that the table lacks as src/runtime/vn-runtime-costs.def has them."""
    return sum(float(table[key] @ features) if key in table else LEAST_FIXED + UNKNOWN * made for key, features, _, made in nodes)


def list_errors(described, run, tables):
    """[(error of the ratio to the float network, network, variant, told, measured)]; tables: of a network's name"""
    floats = {name: (predict(tables(name), nodes) + run, known) for name, label, nodes, known in described if label == 'float'}
    errors = []
    for name, label, nodes, known in described:
        if label != 'float':
            told, real = (predict(tables(name), nodes) + run) / floats[name][0], known / floats[name][1]
            errors.append((abs(math.log(told / real)), name, label, told, real))
    return sorted(errors)


def print_errors(title, errors):
    def at(share):
        return 100 * math.expm1(errors[min(int(share * len(errors)), len(errors) - 1)][0])
    print(f'{title}: {len(errors)} exports, middle error {at(0.5):.0f} %, nine of ten below {at(0.9):.0f} %, '
          f'largest {at(1):.0f} %')
    for _, name, label, told, real in errors[-8:]:
        print(f'    {name} {label}: told x{told:.2f}, measured x{real:.2f}')


def write(table, run, margin):
    with open(TABLE, encoding='utf-8') as file:
        text = file.read()
    head, tail = text[:text.index('VN_RUNTIME_COST ("')], text[text.index('/* What was not measured'):]
    rows = ''
    for (kernel, type_, shape, unit), cost in sorted(table.items(), key=lambda row: (row[0][0], row[0][2] == 'ANY', row[0])):
        times = ', '.join([f'{cost[0]:.0f}', *(f'{x:.4g}' for x in cost[1:5])])
        rows += f'VN_RUNTIME_COST ("{kernel}", {type_}, {shape}, {unit}, {times})\n'
    tail = re.sub(r'VN_RUNTIME_RUN \(.*\)', f'VN_RUNTIME_RUN ({run:.0f})', tail)
    tail = re.sub(r'VN_RUNTIME_MARGIN \(.*\)', f'VN_RUNTIME_MARGIN ({margin:.2f})', tail)
    with open(TABLE, 'w', encoding='utf-8') as file:
        file.write(head + rows + '\n' + tail)


def write_times(found, instructions):
    """Replaces what was measured with @instructions in the table of measured ratios."""
    with open(TIMES, encoding='utf-8') as file:
        kept = [line for line in file if line.split('\t')[0] != instructions]
    floats = {name: run for name, label, _, run in found if label == 'float'}
    kept += [f'{instructions}\t{name}\t{label}\t{floats[name]:.0f}\t{run / floats[name]:.3f}\n' for name, label, _, run in found
             if label != 'float']
    with open(TIMES, 'w', encoding='utf-8') as file:
        file.writelines(kept)


def take_value(args, name, usual=None):
    return args.pop(args.index(name) + 1) if name in args else usual


def main():
    args = sys.argv[1:]
    keep, instructions = take_value(args, '--keep'), take_value(args, '--times')
    folder = take_value(args, '--exports', exports.made_folder())
    names = [a for a in args[1:] if not a.startswith('--')] or exports.list_timed()
    if not os.path.isdir(exports.SHARED):
        oracle.skip('VN_SHARED is not set')
    if keep and os.path.exists(keep):
        with open(keep, 'rb') as file:
            found = pickle.load(file)
    else:
        found = measure(args[0], names, folder)
        if keep:
            with open(keep, 'wb') as file:
                pickle.dump(found, file)
    if instructions:
        write_times(found, instructions)
    overhead, run = find_overhead(found)
    print(f'being profiled costs a node {overhead:.0f} ns, a run takes {run:.0f} ns beside its nodes')
    described = describe_all(found, overhead)
    table = fit(described)
    print_errors('fitted', list_errors(described, run, lambda name: table))
    print(len(table), 'kinds of kernel')
    used = {name: {key for n, _, nodes, _ in described if n == name for key, *_ in nodes if key}
            for name in {row[0] for row in described}}
    left_out = {name: {**table, **fit(described, name, kinds)} for name, kinds in used.items()}
    for name, kinds in used.items():    # what no other network has
        others = {key for n, _, nodes, _ in described if n != name for key, *_ in nodes}
        left_out[name] = {key: cost for key, cost in left_out[name].items() if key in others}
    errors = list_errors(described, run, left_out.get)
    print_errors('each network by the others', errors)
    if '--write' in args:
        write(table, run, math.exp(errors[int(0.9 * len(errors))][0]))


if __name__ == '__main__':
    main()
