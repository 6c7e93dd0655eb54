#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""figures.py VERNIER_CLI ENGINE_RUN [--write PAGE] [--part PART] [--build FOLDER] [NETWORK...]

The tables of the manual's page of figures (PART, of the table of the same name below): whole quantizations beside
onnxruntime.quantization and NNCF, forward passes beside onnxruntime, peak memory against the number of samples, weights that are
subnormal, the repairs of --auto, what observing costs, where error starts, chains of many nodes, and the start of the window.
Prints them, and writes them to PAGE: rows of this machine replace those it had there, those of others stay. FOLDER, of a build
with the programs of the benchmarks, is found beside ENGINE_RUN unless it is given.

On an otherwise idle machine: where others take more than load.py allows, before a part or while it runs, or repeats differ too
much, the part is printed but not written, and the status is 1.

VN_PEERS_PYTHON is an interpreter that has nncf, onnx and onnxruntime (`pip install -r tests/perf/requirements.txt`); without it
NNCF's columns stay empty. VN_PERF_ROUNDS: how often each is measured; the best counts.
"""
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import load as machine_load
import oracle

ROUNDS = int(os.environ.get('VN_PERF_ROUNDS', 2))
REAL = ('cls_mobilenetv2_035_128_flowers', 'det_ultraface_rfb320', 'det_yolox_nano_416', 'cls_squeezenet10_fp32_from_fp16')
COUNTS = (10, 100, 300)
MEMORY_NETWORK, MEMORY_COUNTS, MOST_PERCENTILE = 'mobilenetv2-shaped', (10, 30, 100, 300, 1000), 100
# How Vernier is called for the work that the others do, and for what it does when nothing is said.
ALIKE = ['--method=minmax', '--per-channel', '--skip-compare']
USUAL = ['--per-channel']
AUTO, AUTO_SAMPLES = ('cls_mobilenetv2_035_128_flowers', 'det_yolox_nano_416', 'det_ultraface_rfb320'), 30
CHAIN_SIZES = (1000, 10000, 50000)     # Sum takes 65,535 inputs at most
BUILD = []     # the folder with the programs of the benchmarks


# ---- the peers, each in a process of its own ----

def read_samples(folder, most=None):
    import numpy as np
    for name in sorted(os.listdir(folder))[:most]:
        yield np.load(os.path.join(folder, name))


def quantize_onnxruntime(model, folder, out, method):
    import onnxruntime    # noqa: F401
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
    import onnx
    name = onnx.load(model, load_external_data=False).graph.input[0].name

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.samples = read_samples(folder)

        def get_next(self):
            sample = next(self.samples, None)
            return None if sample is None else {name: sample}

    began = time.time()
    quantize_static(model, out, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8, calibrate_method=getattr(CalibrationMethod, method))
    return time.time() - began


def quantize_nncf(model, folder, out, _):
    import nncf
    import onnx
    began = time.time()
    network = onnx.load(model)
    name, n = network.graph.input[0].name, len(os.listdir(folder))
    data = nncf.Dataset([os.path.join(folder, f) for f in sorted(os.listdir(folder))], lambda path: {name: load(path)})
    onnx.save(nncf.quantize(network, data, subset_size=n), out)
    return time.time() - began


def load(path):
    import numpy as np
    return np.load(path)


PEERS = {'onnxruntime': quantize_onnxruntime, 'nncf': quantize_nncf}


def watch(command):
    """In a process that is still small, as the peak that the system tells begins with that of who starts the command."""
    began = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.time() - began
    if done.returncode != 0:
        sys.exit(done.stderr.strip()[-300:])
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, done.stdout]))


def run_timed(command):
    """Seconds, peak memory in MB, output; None where it fails."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), '--watch', *command], capture_output=True, text=True)
    if done.returncode != 0:
        print('  %s: %s' % (' '.join(command[:3]), done.stderr.strip()), flush=True)
        return None
    return json.loads(done.stdout)


def run_peer(name, model, folder, out, method='MinMax'):
    """Seconds without starting Python and importing, peak memory in MB; None."""
    python = sys.executable if name == 'onnxruntime' else os.environ.get('VN_PEERS_PYTHON')
    done = python and run_timed([python, os.path.abspath(__file__), '--peer', name, model, folder, out, method])
    return done and (json.loads(done[2].strip().splitlines()[-1]), done[1])


def run_ours(cli, model, folder, out, arguments):
    done = run_timed([cli, 'quantize', model, '-o', out, '--data', folder, *arguments])
    return done and done[:2]


FAULTS = []     # what the repeats of the present part say against it


def best(results):
    """The smallest time and memory of several runs; None."""
    results = [r for r in results if r]
    FAULTS.extend(filter(None, [machine_load.find_spread([r[0] for r in results])]))
    return results and tuple(min(r[i] for r in results) for i in (0, 1)) or None


# ---- networks and samples ----

def networks(work):
    """Name, file, and what makes a sample of it: of real ones a part of a photograph, another one for each sample."""
    import generate
    import numpy as np
    for name, make in generate.GENERATED.items():
        path = os.path.join(work, name + '.onnx')
        make(path)
        yield name, path, lambda i: np.random.default_rng(i).normal(0, 1, (1, 3, 224, 224)).astype(np.float32)
    shared = os.environ.get('VN_SHARED', '')
    photos = oracle.photographs(shared)
    for stem in REAL:
        path = os.path.join(shared, 'models', stem + '.onnx')
        if os.path.exists(path) and photos:
            prepared = prepare(path, work)
            yield stem, prepared, part_maker(stem, prepared, photos)


def prepare(path, work):
    """The network as onnxruntime.quantization wants it: opset 13, weights that are no inputs, shapes inferred."""
    import onnx
    from onnx import version_converter
    from onnxruntime.quantization.shape_inference import quant_pre_process
    network = onnx.load(path)
    network.ir_version = max(network.ir_version, 8)
    weights = {w.name for w in network.graph.initializer}
    for value in [v for v in network.graph.input if v.name in weights]:
        network.graph.input.remove(value)
    if next(o.version for o in network.opset_import if o.domain in ('', 'ai.onnx')) < 13:
        network = version_converter.convert_version(network, 13)
    out = os.path.join(work, os.path.basename(path))
    onnx.save(network, out)
    quant_pre_process(out, out, skip_symbolic_shape=True)
    return out


def part_maker(stem, path, photos):
    import numpy as np
    import onnx
    value = onnx.load(path).graph.input[0]
    shape = oracle.input_shape(stem, [d.dim_value for d in value.type.tensor_type.shape.dim], False, value.name)

    def make(i):
        whole = oracle.image_input(stem, photos[i % len(photos)], shape)
        moved = np.roll(whole, (i // len(photos)) * 7, axis=2)
        return np.ascontiguousarray(moved[:, :, :, ::-1] if i // len(photos) % 2 and shape[-1] != 3 else moved)
    return make


def write_samples(folder, n, make):
    import numpy as np
    os.makedirs(folder)
    for i in range(n):
        np.save(os.path.join(folder, 'sample%04d.npy' % i), make(i))
    return folder


# ---- tables ----

def cell(result, unit=''):
    return '–' if result is None else '%.*f%s' % (2 if result < 10 else 0, result, unit)


def ratio(a, b):
    return '–' if not a or not b else '%.1f' % (b / a) if b / a < 10 else '%.0f' % (b / a)


def measure_whole(cli, names, work):
    """Ratios first: how many times as long, and as much memory, the others take for the same samples."""
    lines = ['| network | samples | onnxruntime / Vernier: seconds | memory | NNCF / Vernier: seconds | memory | Vernier: s '
             '| MB | with comparing: s | MB | onnxruntime: s | MB | NNCF: s | MB |', '|---' * 14 + '|']
    for name, path, make in networks(work):
        if names and name not in names:
            continue
        for n in COUNTS:
            folder = write_samples(os.path.join(work, '%s-%d' % (name, n)), n, make)
            out = os.path.join(work, 'out.onnx')
            found = {key: [] for key in ('ours', 'usual', 'onnxruntime', 'nncf')}
            for _ in range(ROUNDS):
                found['ours'].append(run_ours(cli, path, folder, out, ALIKE))
                found['usual'].append(run_ours(cli, path, folder, out, USUAL))
                for peer in PEERS:
                    found[peer].append(run_peer(peer, path, folder, out))
            ours, usual, ort, nncf = (best(found[key]) or (None, None) for key in found)
            lines.append('| %s | %d | ' % (name, n) + ' | '.join(
                [ratio(ours[0], ort[0]), ratio(ours[1], ort[1]), ratio(ours[0], nncf[0]), ratio(ours[1], nncf[1])]
                + [cell(x) for pair in (ours, usual, ort, nncf) for x in pair]) + ' |')
            print(lines[-1], flush=True)
    return lines


def measure_forward(engine, names, work):
    import forward
    rows = []
    for name, path, make, make_inputs in forward.networks(work):
        if name in names or (not names and (name in forward.REAL or path.startswith(work))):
            make()
            times = forward.measure(engine, name, path, make_inputs, work)
            ratios = [times[mode][1] / times[mode][0] for mode, *_ in forward.MODES]
            rows.append((ratios[0], '| %s | ' % name + ' | '.join(['%.2f' % r for r in ratios] + [
                '%.2f' % t for mode, *_ in forward.MODES for t in times[mode]]) + ' |'))
    rows.sort(key=lambda row: -row[0])
    return ['| network | one thread: ratio | two images: ratio | both on one: ratio | one thread: ms | onnxruntime '
            '| two images: ms | onnxruntime | both on one: ms | onnxruntime |', '|---' * 10 + '|'] + [row for _, row in rows]


def measure_memory(cli, _, work):
    """Many names of the same ten files."""
    name, path, make = next(network for network in networks(work) if network[0] == MEMORY_NETWORK)
    few, out = write_samples(os.path.join(work, 'few'), 10, make), os.path.join(work, 'out.onnx')
    lines = ['| samples | Vernier, minmax: MB | with comparing | percentile: MB | onnxruntime, MinMax: MB | Percentile: MB |',
             '|---' * 6 + '|']
    for n in MEMORY_COUNTS:
        folder = os.path.join(work, 'memory-%d' % n)
        os.makedirs(folder)
        for i in range(n):
            os.link(os.path.join(few, 'sample%04d.npy' % (i % 10)), os.path.join(folder, 'sample%04d.npy' % i))
        runs = [run_ours(cli, path, folder, out, ALIKE), run_ours(cli, path, folder, out, USUAL),
                run_ours(cli, path, folder, out, ['--method=percentile', '--per-channel', '--skip-compare']),
                run_peer('onnxruntime', path, folder, out),
                run_peer('onnxruntime', path, folder, out, 'Percentile') if n <= MOST_PERCENTILE else None]
        lines.append('| %d | ' % n + ' | '.join(cell(run and run[1]) for run in runs) + ' |')
        print(lines[-1], flush=True)
    return lines


# ---- what the benchmarks print, as rows ----

def run_script(name, arguments, pattern):
    """The groups of the pattern in each line that a benchmark prints and that has it; none is a fault."""
    done = subprocess.run([sys.executable, os.path.join(here, name), *arguments], capture_output=True, text=True)
    found = [m.groups() for m in map(re.compile(pattern).search, done.stdout.splitlines()) if m]
    if not found:
        FAULTS.append('%s found nothing: %s' % (name, (done.stderr or done.stdout).strip()[-200:]))
    return found


def table(head, rows):
    lines = ['| %s |' % ' | '.join(head), '|---' * len(head) + '|'] + ['| %s |' % ' | '.join(row) for row in rows]
    print('\n'.join(lines[2:]), flush=True)
    return lines


def measure_subnormals(engine, _, __):
    rows = run_script('subnormals.py', [engine],
                      r'^(\S.*\S)\s+(\d+) % subnormal: +([\d.]+) ms, zeros +([\d.]+) ms, ratio ([\d.]+), results apart by (\S+)')
    return table(['operator', 'subnormal weights: %', 'ratio', 'ms', 'with zeros: ms', 'results apart by'],
                 [(op, share, ratio_, ms, zeros, apart) for op, share, ms, zeros, ratio_, apart in rows])


def measure_observing(_, names, __):
    rows = run_script('calibrate.py', [find_program('calibrate-run'), *names],
                      r'^(\S+)\s+observing for (\S+)\s+([\d.]+) ms a sample, forward alone ([\d.]+), cost (-?\d+) %')
    return table(['network', 'method', 'cost: %', 'ms a sample', 'forward alone: ms'],
                 [(name, what, cost, ms, forward_) for name, what, ms, forward_, cost in rows])


def measure_chains(cli, _, __):
    rows = run_script('chains.py', [cli, *map(str, CHAIN_SIZES)], r'^(.*\S)\s+(measured|prepare|compare)' +
                      r'\s+([\d.]+) s\s+(\d+) MB' * len(CHAIN_SIZES) + r'\s+(.*)$')
    return table(['chain', 'command'] + [x for n in CHAIN_SIZES for x in ('%d nodes: CPU s' % n, 'MB')] + ['exponents'], rows)


def measure_start(_, __, ___):
    rows = run_script('start.py', [find_program('vernier')],
                      r'^(\S+)\s+first +([\d.]+) s, +([\d.]+) CPU s +settled +([\d.]+) s, +([\d.]+) CPU s')
    return table(['opened', 'first paint: s', 'CPU s', 'settled: s', 'CPU s'], rows)


def measure_auto(cli, names, work):
    """All repairs that --auto knows, on samples of photographs."""
    rows = []
    for name, path, make in networks(work):
        if name not in (names or AUTO):
            continue
        folder = write_samples(os.path.join(work, name + '-auto'), AUTO_SAMPLES, make)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = run_timed([cli, 'quantize', path, '-o', os.path.join(work, 'out.onnx'), '--data', folder, '--auto', '--no-verify',
                           '--json'])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        sqnr = json.loads(found[2])['report']['summary']['sqnr_db'] if found else None
        rows.append((name, str(AUTO_SAMPLES), cell(found and found[0]),
                     cell(found and after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
                     cell(found and found[1]), cell(sqnr)))
    return table(['network', 'samples', 'seconds', 'CPU s', 'MB', 'SQNR: dB'], rows)


def measure_origins(_, __, ___):
    rows = run_script('contributions.py', [find_program('contribution-run'), find_program('what-if-run')],
                      r'^(\S+)\s+origins: (\d+) samples, ([\d.]+) s, ([\d.]+) CPU s')
    return table(['network', 'samples', 'seconds', 'CPU s'], rows)


def find_program(name):
    """Of the build that the engine's program is of, or of the one given."""
    for folder, _, files in os.walk(BUILD[0]):
        if name in files and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    sys.exit('no %s below %s' % (name, BUILD[0]))


# ---- machines ----

def read_processor():
    with open('/proc/cpuinfo') as f:
        return next((line.split(':', 1)[1].strip() for line in f if line.startswith('model name')), platform.machine())


def read_vectors():
    """What vector instructions the processor has, the widest."""
    with open('/proc/cpuinfo') as f:
        flags = next((line.split() for line in f if line.startswith('flags')), [])
    return next((name for flag, name in (('avx512f', 'AVX-512'), ('avx2', 'AVX2')) if flag in flags), '')


def name_machine():
    """As its rows have it: the processor without what all of its maker have in their names, its vectors, and the cores."""
    words = re.sub(r'\((R|TM)\)|@.*|\bCPU\b|\bProcessor\b|\d+-Core', '', read_processor()).split()
    return ', '.join(filter(None, [' '.join(words), read_vectors(), '%d cores' % os.cpu_count()]))


def describe_machine(cli):
    with open('/proc/meminfo') as f:
        memory = int(f.readline().split()[1]) / 2**20
    version = subprocess.run([cli, '--version'], capture_output=True, text=True).stdout.strip().splitlines()[0]
    import onnxruntime
    text = '- %s: %.0f GB; %s; onnxruntime %s' % (name_machine(), memory, version, onnxruntime.__version__)
    peers = os.environ.get('VN_PEERS_PYTHON')
    if peers:
        found = subprocess.run([peers, '-c', 'import importlib.metadata as m; print(m.version("nncf"))'], capture_output=True,
                               text=True)
        text += '; NNCF ' + found.stdout.strip()
    return [text + '.']


def join_rows(old, new, machine):
    """The new rows with the name of the machine in front, behind those that other machines have in the old table."""
    kept = [line for line in old if line.startswith('| ') and line.split(' | ')[0] != '| ' + machine and
            not line.startswith('| machine |')]
    head, ruler, *rows = new
    return ['| machine ' + head, '|---' + ruler] + kept + ['| %s %s' % (machine, row) for row in rows]


def join_machines(old, new, machine):
    return [line for line in old if line.startswith('- ') and not line.startswith('- %s:' % machine)] + new


def write_part(page, part, lines):
    """The page is read anew, as another part may have been written meanwhile."""
    begin, end = '<!-- %s: made by tests/perf/figures.py --write -->' % part, '<!-- %s end -->' % part
    with open(page, encoding='utf-8') as f:
        before, rest = f.read().split(begin)
    old, after = rest.split(end)
    join = join_machines if part == 'machine' else join_rows
    with open(page, 'w', encoding='utf-8') as f:
        f.write(before + begin + '\n' + '\n'.join(join(old.splitlines(), lines, name_machine())) + '\n' + end + after)


def take_option(arguments, name):
    if name not in arguments:
        return None
    i = arguments.index(name)
    value = arguments[i + 1]
    del arguments[i:i + 2]
    return value


def main():
    if sys.argv[1:2] == ['--watch']:
        return watch(sys.argv[2:])
    if sys.argv[1:2] == ['--peer']:
        print(json.dumps(PEERS[sys.argv[2]](*sys.argv[3:])))
        return None
    oracle.use_oracle_python()
    (cli, engine), names = sys.argv[1:3], sys.argv[3:]
    page, only = take_option(names, '--write'), take_option(names, '--part')
    BUILD.append(take_option(names, '--build') or os.path.join(os.path.dirname(os.path.realpath(engine)), '..', '..'))
    return sum([not measure_part(part, cli, engine, names, page) for part in PARTS if only in (None, part)]) > 0


def measure_part(part, cli, engine, names, page):
    """False: load made it worthless, and it was not written."""
    measure, uses_engine = PARTS[part]
    fault = machine_load.find_fault_before()
    if fault:
        print('%s: not measured: %s' % (part, fault), flush=True)
        return False
    FAULTS.clear()
    watch = machine_load.Watch()
    with tempfile.TemporaryDirectory() as work:
        lines = measure(engine if uses_engine else cli, names, work)
    print('\n'.join(lines), flush=True)
    faults = list(filter(None, [watch.find_fault()])) + FAULTS
    if faults:
        print('%s: not recorded: %s' % (part, '; '.join(faults[:3])), flush=True)
        return False
    if page:
        write_part(page, part, lines)
        write_part(page, 'machine', describe_machine(cli))
    return True


# What is measured, and whether by the engine's program.
PARTS = {'whole': (measure_whole, False), 'forward': (measure_forward, True), 'memory': (measure_memory, False),
         'subnormals': (measure_subnormals, True), 'auto': (measure_auto, False), 'observing': (measure_observing, False),
         'origins': (measure_origins, False), 'chains': (measure_chains, False), 'start': (measure_start, False)}


if __name__ == '__main__':
    sys.exit(main())
