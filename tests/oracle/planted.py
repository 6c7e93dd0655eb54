#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""planted.py CLI SOURCE_DIR [--kinds K,K] [--shard I/N] [--log FILE] [NETWORK ...]: faults that are planted into float networks,
which compute the same as before but for rounding (or into the settings), and what “quantize --cures” makes of them.

A reason is at the place if it is told of a tensor that the fault was planted into, or that a node reads or writes which reads or
writes such a tensor; “exact”: of a tensor that it was planted into, or that has the same numbers but for a Relu, a pool or a Pad
between. Lost is what the outputs have less than those of the network without the fault; won back is what the best cure that is
offered has more than the network with it. A fault that costs less than LEAST_LOSS dB is no fault, and is counted apart.

Without networks: three small ones, for the suite. “first”: the ten that thresholds were found on; “held-out”: those that they
were not, files of ../shared/models and networks made by planted_networks.py; “all”: both. A network of which a run takes longer
than SLOW seconds gets a third of the kinds of faults and half the samples. --log adds a line for each fault to a file;
“planted.py CLI SOURCE_DIR --table FILE” only makes the tables of such a file.
PLANTED_VERBOSE=1 shows what was told. The figures are of held-out samples in our own simulation, mean over the outputs; of
“mixed-output” of the small numbers, in onnxruntime."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
from onnx import helper, numpy_helper    # noqa: E402
import planted_networks    # noqa: E402
from planted_faults import KINDS, POOLS, SCALABLE, Network, NotHere, plant_gate, run    # noqa: E402

LEAST_LOSS = 3.0
N_CALIBRATION, N_TEST = 12, 4
SLOW = 1.5
MOST_SECONDS = 30      # for a diagnosis
DEMO, MADE = 'demo', 'made'
FIRST = (DEMO, MADE, 'kws_micro_fp32', 'mnist_cntk_op8', 'mnist_rten_op18', 'cls_cifar10_winml_cnn', 'sr_espcn_bsd300_rgb',
         'aud_yamnet256_st',
         'det_yunet_n_dynamic', 'aud_basic_pitch_nmp')

arguments = sys.argv[1:]
CLI, SOURCE = arguments[:2]
wanted = arguments[2:]
kinds_wanted = None
if '--kinds' in wanted:
    at = wanted.index('--kinds')
    kinds_wanted = wanted[at + 1].split(',')
    del wanted[at:at + 2]


def take_option(name):
    if name not in wanted:
        return None
    at = wanted.index(name)
    value = wanted[at + 1]
    del wanted[at:at + 2]
    return value


SHARD, LOG, TABLE = take_option('--shard'), take_option('--log'), take_option('--table')


# ---- one fault ----

def quantize(path, data, work, options, cures):
    out = os.path.join(work, 'q-' + os.path.basename(path))
    command = [CLI, 'quantize', path, '-o', out, '--data', data, '--held-out', str(len(os.listdir(data)) // 4), '--preset', 'cpu',
               '--json', '--opset', '21']
    options = list(options)
    if '--no-channels' in options:
        options.remove('--no-channels')
        command.append('--per-channel=false')
    else:
        command.append('--per-channel')
    if cures:
        command += ['--cures', '--time', '30']
    done = subprocess.run(command + options, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip())[-300:])
    return json.loads(done.stdout)['report'], out


def outputs_db(report):
    values = [t['sqnr_db'] if t['sqnr_db'] is not None else 300 for t in report['tensors'] if t['output']]
    return float(np.mean([min(v, 200) for v in values]))


def small_part_db(model, quantized, samples):
    """Of the second half of the first output."""
    wanted, found = run(model, samples)[0], run(onnx.load(quantized), samples)[0]
    noise = signal = 0.0
    for a, b in zip(wanted, found):
        half = a.shape[-1] // 2
        noise += ((a[..., half:].astype(np.float64) - b[..., half:]) ** 2).sum()
        signal += (a[..., half:].astype(np.float64) ** 2).sum()
    return 10 * np.log10(signal / max(noise, 1e-30))


def neighbours(network, planted):
    near = set(planted)
    for n in network.graph.node:
        if set(n.input) & set(planted) or set(n.output) & set(planted):
            near |= set(n.input) | set(n.output)
            # a Relu behind or before belongs to the layer
            for m in network.graph.node:
                if m.op_type in SCALABLE + ('Clip',) + POOLS and (m.input[0] in n.output or m.output[0] in n.input):
                    near |= set(m.input) | set(m.output)
                    for layer in network.graph.node:
                        if m.input[0] in layer.output and layer.op_type == 'Conv':
                            near |= set(layer.input) | set(layer.output)
    return near


class Result:
    """Of one fault: what the table counts."""
    FIELDS = ('network', 'kind', 'rank', 'exact', 'reason', 'lost', 'won', 'won_quantized', 'cure', 'cure_quantized', 'seconds',
              'all_seconds')

    def __init__(self, network, kind):
        self.network, self.kind = network, kind
        self.rank = self.exact = self.reason = self.lost = self.won = self.won_quantized = self.cure = self.cure_quantized = None
        self.seconds = self.all_seconds = 0

    def log(self):
        if LOG is None:
            return
        with open(LOG, 'a', encoding='utf-8') as out:
            values = {f: getattr(self, f) for f in self.FIELDS}
            out.write(json.dumps({k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}) + '\n')

    @staticmethod
    def read(path):
        results = {}
        for line in open(path, encoding='utf-8'):
            values = json.loads(line)
            r = Result(values['network'], values['kind'])
            for f, v in values.items():
                setattr(r, f, v)
            results[r.network, r.kind] = r    # the last one counts
        return list(results.values())


def same_numbers(network, planted):
    """What has the same numbers as a planted tensor, but for a Relu, a pool or a Pad between."""
    same = set(planted)
    for _ in range(4):
        for n in network.graph.node:
            if n.op_type in SCALABLE + ('Clip', 'Pad') + POOLS and (n.input[0] in same or n.output[0] in same):
                same |= {n.input[0], n.output[0]}
    return same


def find_rank(report, near, kind):
    if kind == 'samples':
        first = report['reasons'][0] if report.get('reasons') else None
        return 1 if first is not None and first['reason'] in KINDS[kind][1] else 99
    # diagnosis ranks tensors; a tensor that has no reason told is not among the first
    ranks = [r['rank'] for r in report.get('reasons', []) if r['tensor'] in near]
    return min(ranks) if ranks else 99


def check(name, network, kind, data, work, plain, samples, calibration):
    result = Result(name, kind)
    rng = np.random.default_rng(zlib.crc32(f'{name}/{kind}'.encode()))
    planted, tensors, options = KINDS[kind][0](network, calibration, rng)
    path = os.path.join(work, 'planted.onnx')
    onnx.save(planted.model, path)
    if options == ['--wrong-stats']:
        stats = os.path.join(work, 'wrong.stats')
        subprocess.run([CLI, 'calibrate', path, '-o', stats, '--data', os.path.join(work, 'wrong'), '--held-out', '0',
                        '--preset', 'cpu'], check=True,
                       capture_output=True)
        options = ['--stats', stats]
    before = time.monotonic()
    report, out = quantize(path, data, work, options, True)
    result.all_seconds = time.monotonic() - before
    if result.all_seconds <= MOST_SECONDS:
        result.seconds = result.all_seconds
    else:
        before = time.monotonic()
        quantize(path, data, work, options + ['--origins'], False)
        result.seconds = time.monotonic() - before
    key = '--no-channels' in options
    if key not in plain:
        plain[key] = measure_plain(network, data, work, ['--no-channels'] if key else [], samples)
    fault_db, plain_db = outputs_db(report), plain[key][0]
    if kind == 'gate':   # the gates themselves cost something
        harmless = os.path.join(work, 'harmless.onnx')
        rng = np.random.default_rng(zlib.crc32(f'{name}/{kind}'.encode()))
        onnx.save(plant_gate(network, calibration, rng, True)[0].model, harmless)
        plain_db = outputs_db(quantize(harmless, data, work, [], False)[0])
    if kind == 'mixed-output':
        fault_db, plain_db = small_part_db(planted.model, out, samples), plain[key][1]
    result.lost, result.fault_db = plain_db - fault_db, fault_db
    if os.environ.get('PLANTED_VERBOSE'):
        print('planted into', tensors, 'near', sorted(neighbours(planted, tensors)))
        for r in report.get('origins', [])[:4]:
            print('   origin', r['tensor'], r['role'], f"{r['share']:.3f} {r['alone_sqnr_db']:.1f} {r['local_sqnr_db']:.1f}")
        for r in report.get('reasons', [])[:8]:
            print('   reason', r['rank'], r['tensor'], r['reason'], r['text'])
        for r in report.get('cures', []):
            print('   cure', r['tensor'], r['cure'], r['outcome'], r['before_sqnr_db'], r['after_sqnr_db'])
    result.rank = find_rank(report, neighbours(planted, tensors), kind)
    near = neighbours(planted, tensors)
    result.exact = result.rank if kind == 'samples' else find_rank(report, same_numbers(planted, tensors), kind)
    result.reason = any(r['reason'] in KINDS[kind][1] and (r['tensor'] in near or r['tensor'] == '')
                        for r in report.get('reasons', []))
    helped = [c for c in report.get('cures', []) if c['outcome'] == 'helped']
    if kind == 'mixed-output':
        name = tensors[0]
        choices = {'float-output': ['--float-outputs', name], 'float-region': ['--exclude', name]}
        helped = [c for c in helped if c['cure'] in choices]
        for c in helped:
            _, out = quantize(path, data, work, choices[c['cure']], False)
            c['after_sqnr_db'] = small_part_db(planted.model, out, samples)
    best = max(helped, key=lambda c: c['after_sqnr_db'], default=None)
    result.won = best['after_sqnr_db'] - fault_db if best else 0.0
    result.cure = best['cure'] if best else '-'
    kept = max((c for c in helped if c['cure'] != 'float-region'), key=lambda c: c['after_sqnr_db'], default=None)
    result.won_quantized = kept['after_sqnr_db'] - fault_db if kept else 0.0
    result.cure_quantized = kept['cure'] if kept else '-'
    return result


def small_plain(network, out, samples):
    wanted, found = run(network.model, samples)[0], run(onnx.load(out), samples)[0]
    noise = sum(((a.astype(np.float64) - b) ** 2).sum() for a, b in zip(wanted, found))
    return 10 * np.log10(sum((a.astype(np.float64) ** 2).sum() for a in wanted) / max(noise, 1e-30))


def measure_plain(network, data, work, options, samples):
    report, out = quantize(os.path.join(work, 'prepared.onnx'), data, work, options, False)
    return outputs_db(report), small_plain(network, out, samples)


# ---- all ----

def make_samples(stem, shape):
    if stem in planted_networks.NETWORKS:
        return planted_networks.make_samples(stem, shape, N_CALIBRATION + N_TEST)
    rng = np.random.default_rng(zlib.crc32(stem.encode()))
    if stem not in (DEMO, MADE) and oracle.is_image(shape):
        pictures = oracle.photographs(oracle.shared_folder())[:N_CALIBRATION + N_TEST]
        if len(pictures) == N_CALIBRATION + N_TEST:
            return [oracle.image_input(stem, p, shape) for p in pictures]
    low, high = next((r for s, r in oracle.RANGES.items() if stem.startswith(s)), (-1, 1))
    return [rng.uniform(low, high, size=shape).astype(np.float32) for _ in range(N_CALIBRATION + N_TEST)]


def write_samples(folder, samples):
    os.makedirs(folder, exist_ok=True)
    for i, s in enumerate(samples):
        np.save(os.path.join(folder, f'{i:02}.npy'), s)


def make_network(path):
    """Small and random, for the suite: convolutions with and without a pool between, and a head."""
    rng = np.random.default_rng(11)
    nodes, constants, value, channels = [], [], 'x', 8
    for k, (n, size) in enumerate(((12, 3), (16, 1), (16, 3), (12, 1))):
        w = rng.normal(size=(n, channels, size, size)) * np.sqrt(2 / (channels * size * size))
        constants += [numpy_helper.from_array(w.astype(np.float32), f'w{k}'),
                      numpy_helper.from_array(rng.uniform(-0.1, 0.3, size=n).astype(np.float32), f'b{k}')]
        nodes += [helper.make_node('Conv', [value, f'w{k}', f'b{k}'], [f'c{k}'], name=f'conv{k}', pads=[size // 2] * 4),
                  helper.make_node('Relu', [f'c{k}'], [f'r{k}'], name=f'relu{k}')]
        value, channels = f'r{k}', n
        if k == 2:
            nodes.append(helper.make_node('MaxPool', [value], ['p'], name='pool', kernel_shape=[2, 2], strides=[2, 2]))
            value = 'p'
    constants.append(numpy_helper.from_array((rng.normal(size=(10, channels, 1, 1)) / 3).astype(np.float32), 'w'))
    nodes.append(helper.make_node('Conv', [value, 'w'], ['y'], name='head'))
    graph = helper.make_graph(nodes, 'made', [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [1, 8, 16, 16])],
                              [helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, [1, 10, 8, 8])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def prepare(stem, path, work):
    if stem == MADE:
        make_network(path := os.path.join(work, 'made.onnx'))
    if stem in planted_networks.NETWORKS:
        onnx.save(planted_networks.make(stem), path := os.path.join(work, 'made.onnx'))
    model = onnx.load(path)
    inputs = [i for i in model.graph.input if i.name not in {k.name for k in model.graph.initializer}]
    if len(inputs) != 1 or inputs[0].type.tensor_type.elem_type != onnx.TensorProto.FLOAT:
        raise NotHere('not one input of floats')
    dims = inputs[0].type.tensor_type.shape.dim
    shape = oracle.input_shape(stem, [d.dim_value or d.dim_param for d in dims])
    prepared = os.path.join(work, 'prepared.onnx')
    fixed = os.path.join(work, 'fixed.onnx')
    for d, n in zip(dims, shape):
        d.dim_value = n
    onnx.save(model, fixed)
    done = subprocess.run([CLI, 'prepare', fixed, '-o', prepared, '--opset', '21'], capture_output=True, text=True)
    if done.returncode != 0:
        raise NotHere(done.stderr.strip().splitlines()[-1])
    return Network(onnx.shape_inference.infer_shapes(onnx.load(prepared))), shape


def check_network(stem, path, results):
    with tempfile.TemporaryDirectory() as work:
        try:
            network, shape = prepare(stem, path, work)
            samples = make_samples(stem, shape)
            run(network.model, samples[:1])
        except Exception as e:   # pylint: disable=broad-except
            print(f'{stem}: left out: {str(e)[:100]}')
            return
        data, plain = os.path.join(work, 'data'), {}
        write_samples(data, samples)
        before = time.monotonic()
        try:
            plain[False] = measure_plain(network, data, work, [], samples[::4])
        except RuntimeError as e:
            print(f'{stem}: left out: {str(e)[:100]}')
            return
        kinds = kinds_wanted or list(KINDS)
        if time.monotonic() - before > SLOW:
            kinds = [k for i, k in enumerate(KINDS) if i % 3 == zlib.crc32(stem.encode()) % 3] if kinds_wanted is None else kinds
            samples = samples[:len(samples) // 2]
            shutil.rmtree(data)
            write_samples(data, samples)
            plain.clear()
        write_samples(os.path.join(work, 'wrong'), [s * 0.15 for s in samples])
        held_out = samples[::4]
        for kind in kinds:
            try:
                result = check(stem, network, kind, data, work, plain, held_out, samples[:6])
            except NotHere as e:
                print(f'{stem:34} {kind:20} cannot be planted: {e}', flush=True)
                continue
            except Exception as e:   # pylint: disable=broad-except
                print(f'{stem:34} {kind:20} FAILED: {type(e).__name__}: {str(e)[:160]}', flush=True)
                result = Result(stem, kind)
                results.append(result)
                result.log()
                continue
            results.append(result)
            result.log()
            won = 100 * result.won / result.lost if result.lost > LEAST_LOSS else float('nan')
            print(f'{stem:34} {kind:20} lost {result.lost:6.1f} dB, rank {result.rank:2}, exact {result.exact:2}, '
                  f'reason {"told" if result.reason else "-":4}, won {result.won:6.1f} dB {won:4.0f} % by {result.cure:15} '
                  f'(but float {result.won_quantized:5.1f} dB by {result.cure_quantized}) {result.all_seconds:5.1f} s',
                  flush=True)


def is_cured(result):
    return result.won >= 0.8 * result.lost


def is_cured_quantized(result):
    return result.won_quantized >= 0.8 * result.lost


def list_wrong(counted):
    wrong = []
    if np.mean([r.rank == 1 for r in counted]) < 0.9:
        wrong.append('the origin is rank 1 in less than 90 %')
    wrong += [f'{r.network}, {r.kind}: the origin is not among the first 3' for r in counted if r.rank > 3]
    wrong += [f'{r.network}, {r.kind}: the best cure wins back {r.won:.1f} of {r.lost:.1f} dB' for r in counted
              if not is_cured(r)]
    slow = sorted({r.network for r in counted if r.seconds > MOST_SECONDS})
    if slow:
        wrong.append(f'an origin takes longer than {MOST_SECONDS} s on {", ".join(slow)}')
    return wrong


def make_table(results):
    """Lines of Markdown."""
    lines = ['| fault | planted | rank 1 | first 3 | exact | reason | cured | not in float | won back |',
             '|---|---|---|---|---|---|---|---|---|']
    for kind, some in [(k, [r for r in results if r.kind == k]) for k in KINDS] + [('all', results)]:
        if not some:
            continue
        counts = ([r.rank == 1 for r in some], [r.rank <= 3 for r in some], [r.exact == 1 for r in some],
                  [r.reason for r in some], [is_cured(r) for r in some], [is_cured_quantized(r) for r in some])
        shares = [100 * np.mean(s) for s in counts]
        won = np.median([min(r.won_quantized / r.lost, 1) for r in some])
        lines.append(f'| {kind} | {len(some)} | ' + ' | '.join(f'{s:.0f} %' for s in shares) + f' | {100 * won:.0f} % |')
    return lines


def summarize(results):
    """Prints the tables; returns what is not as it must be."""
    counted = [r for r in results if r.lost is not None and r.lost >= LEAST_LOSS]
    failed = [r for r in results if r.lost is None]
    wrong = [f'{r.network}, {r.kind}: failed' for r in failed]
    print(f'\n{len(results)} planted, {len(failed)} failed, {len(results) - len(failed) - len(counted)} cost less than '
          f'{LEAST_LOSS} dB, {len(counted)} counted')
    for title, some in (('first', [r for r in counted if r.network in FIRST]),
                        ('held out', [r for r in counted if r.network not in FIRST])):
        if some:
            print(f'\n{title}: {len({r.network for r in some})} networks, longest {max(r.seconds for r in some):.1f} s\n')
            print('\n'.join(make_table(some)), '\n')
    return wrong + (list_wrong(counted) if counted else ['nothing was compared'])


def list_networks(shared):
    """Those asked for, and of them those of this shard."""
    folder = os.path.join(shared, 'models')
    files = sorted((f for f in os.listdir(folder) if f.endswith('.onnx')),
                   key=lambda f: os.path.getsize(os.path.join(folder, f))) if shared else []
    others = list(planted_networks.NETWORKS) + [f[:-5] for f in files if f[:-5] not in FIRST]
    sets = {'first': [n for n in FIRST if n in (DEMO, MADE) or n + '.onnx' in files], 'held-out': others}
    sets['all'] = sets['first'] + sets['held-out']
    names = [n for w in wanted or [DEMO, MADE, 'made-mlp'] for n in sets.get(w, [w])]
    if SHARD is None:
        return names
    i, n = (int(x) for x in SHARD.split('/'))
    return names[i::n]


def main():
    demo = os.path.join(SOURCE, 'data', 'demo', 'demo.onnx')
    shared = os.environ.get('VN_SHARED', '')
    results = Result.read(TABLE) if TABLE is not None else []
    for name in list_networks(shared) if TABLE is None else []:
        check_network(name, demo if name == DEMO else os.path.join(shared, 'models', name + '.onnx'), results)
    wrong = summarize(results)
    for w in wrong:
        print('WRONG  ', w)
    sys.exit(bool(wrong))


main()
