#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_data.py CLI SOURCE: `inspect --node-data` with profiles that ONNX Runtime writes of the demo and of a network of nodes
without names, optimized and not, float and quantized: the times that are given for nodes and those of names that match none add
up to those of the events, a node that ONNX Runtime did not touch has its own, and only conversions of layout belong to none. Of
files in Model Explorer's own form (`report --format node-data`), Python reads the values that `report --json` gives."""
import collections
import json
import math
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402

CLI, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
DEMO = os.path.join(SOURCE, 'data', 'demo')
RUNS = 4
CONVERSIONS = {'ReorderInput', 'ReorderOutput', 'Transpose'}    # of layout: they belong to no node
faults = []


def expect(good, what):
    print(('ok      ' if good else 'WRONG   ') + what)
    if not good:
        faults.append(what)


def run(*args):
    done = subprocess.run([CLI, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def profile(path, level, folder):
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = os.path.join(folder, 'profile')
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    first = session.get_inputs()[0]
    data = numpy.random.default_rng(1).random([d if isinstance(d, int) else 1 for d in first.shape], dtype=numpy.float32)
    for _ in range(RUNS):
        session.run(None, {first.name: data})
    return session.end_profiling()


def sum_events(trace):
    """Seconds of one run, by name."""
    with open(trace, encoding='utf-8') as file:
        events = json.load(file)
    times = collections.defaultdict(float)
    runs = sum(e['name'] == 'model_run' for e in events)
    for e in events:
        if e['cat'] == 'Node' and e['name'].endswith('_kernel_time'):
            times[e['name'][:-len('_kernel_time')]] += e['dur'] * 1e-6 / runs
    assert runs == RUNS and times
    return times


def check_profile(name, path, level, folder):
    trace = profile(path, level, folder)
    times = sum_events(trace)
    data = json.loads(run('inspect', path, '--node-data', trace, '--json'))['node_data']
    nodes = {n['node']: n['value'] for n in data['nodes']}
    matched, lost = sum(nodes.values()), sum(n['value'] for n in data['unmatched'])
    print(f'{name}: {len(times)} kernels, {len(nodes)} nodes, {1e6 * matched:.0f} us; '
          f'{len(data["unmatched"])} unmatched, {1e6 * lost:.0f} us: {[n["name"] for n in data["unmatched"]][:6]}')
    expect(data['runs'] == RUNS and data['unit'] == 's', f'{name}: mean of {RUNS} runs, in seconds')
    expect(math.isclose(matched + lost, sum(times.values()), rel_tol=1e-9), f'{name}: the sum is that of the events')
    expect({n['name'].split('_token_')[0] for n in data['unmatched']} <= CONVERSIONS,
           f'{name}: only conversions of layout belong to no node')
    graph = onnx.load(path).graph
    own = [(n.name or f'{n.op_type}_{i}', n.name or f'{n.op_type} #{i}') for i, n in enumerate(graph.node)]
    same = [(event, label) for event, label in own if event in times]
    if level == onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL:
        expect(len(nodes) == len(graph.node) and lost == 0, f'{name}: each node has its time')
        more = sorted(set(times) - {event for event, _ in own})    # what ONNX Runtime makes of one node in any case
        extended = [label for event, label in same if not math.isclose(nodes[label], times[event], rel_tol=1e-9)]
        print(f'{name}: {len(more)} kernels of no node of the file: {more}; {len(extended)} nodes with more than their own')
        expect(len(same) == len(own) and len(extended) <= len(more) <= 0.05 * len(own), f'{name}: each has that of its own')
    else:
        expect(all(nodes[label] >= times[event] * (1 - 1e-9) for event, label in same), f'{name}: none has less than its own')
    return len(nodes)


def check_node_data(folder):
    project, out = os.path.join(folder, 'p.vernier'), os.path.join(folder, 'data')
    run('quantize', os.path.join(DEMO, 'demo.onnx'), '-o', os.path.join(folder, 'q.onnx'), '--data',
        os.path.join(DEMO, 'samples'), '-n', '8', '--origins', '--save-project', project)
    run('report', project, '--format', 'node-data', '-o', out)
    tensors = {t['node']: t for t in json.loads(run('report', project, '--json'))['report']['tensors']}
    fields = {'sqnr': 'sqnr_db', 'noise': 'noise_to_signal', 'cosine': 'cosine', 'mse': 'mse', 'max-error': 'max_error',
              'contribution': 'contribution'}
    expect(sorted(os.listdir(out)) == sorted(f'{id}.json' for id in fields), 'a file for each metric')
    for id, field in fields.items():
        with open(os.path.join(out, f'{id}.json'), encoding='utf-8') as file:
            data = json.load(file)
        values = {node: r['value'] for node, r in data['results'].items()}
        both = [n for n in values if n in tensors and field in tensors[n]]
        expect(len(both) > 20 and all(math.isclose(values[n], tensors[n][field], rel_tol=1e-9) for n in both),
               f'{id}: {len(values)} values, {len(both)} as in the report')
        expect(all(math.isfinite(v) for v in values.values()) and ('thresholds' in data) != ('gradient' in data)
               and all(len(c['bgColor']) == 7 for c in data.get('thresholds', data.get('gradient'))),
               f'{id}: as Model Explorer has it')


def main():
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        levels = {'all': onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
                  'none': onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL}
        check_node_data(folder)
        plain = onnx.load(os.path.join(DEMO, 'demo.onnx'))
        for node in plain.graph.node:
            node.name = ''
        unnamed = os.path.join(folder, 'unnamed.onnx')
        onnx.save(plain, unnamed)
        for network, path in (('demo', os.path.join(DEMO, 'demo.onnx')), ('unnamed', unnamed),
                              ('quantized', os.path.join(folder, 'q.onnx'))):
            for level, value in levels.items():
                n += check_profile(f'{network}, {level}', path, value, folder)
    expect(n > 200, f'{n} nodes compared')
    return int(faults != [])


if __name__ == '__main__':
    sys.exit(main())
