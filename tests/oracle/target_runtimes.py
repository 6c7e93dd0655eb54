#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""target_runtimes.py CLI [--write PAGE] [--no-times] [NETWORK...]: what real runtimes make of the targets that are for them.

Each network of the shared data is quantized with the preset `cpu` and with the target of a runtime, on photographs or random
numbers, and runs there: error against the float network on samples that were not calibrated on, products on integers, parts
that the runtime cuts the network into. The target must be about as accurate as `cpu` there, with no more parts and no fewer
products on integers, and no less of the multiplications on integers than was foretold. NNCF's export with its defaults, of the
same samples, stands beside ours in OpenVINO, where VN_NNCF_PYTHON is an interpreter that has nncf and openvino: ours must be at
least as accurate for all networks but one. VN_OPENVINO_PYTHON, VN_QNN_PYTHON, VN_TRACT_PYTHON are interpreters that have
openvino, onnxruntime-qnn (whose simulator of Hexagon counts, not its times), tract; a runtime without one is left out, and
without any the script skips. With --write the table in data/help/vernier-targets.md is made anew; with
--no-times it has no times, as they mean nothing where other programs run.
"""
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
import presets

NETWORKS = ('cls_mobilenetv2_035_128_flowers', 'det_ultraface_rfb320', 'det_yolox_nano_416', 'vit_cct2_32_op20',
            'txt_tashkeel_transformer_fp32', 'txt_bert_toy_op12_unsorted', 'det_openseeface_mnv3')
BEGIN, END = '<!-- runtimes: made by tests/oracle/target_runtimes.py --write -->', '<!-- runtimes end -->'
LESS_DB = 1.5     # chance of a few samples, and of another rounding
LESS_SHARE = 0.02    # of the multiplications: how much more may be foretold; what is fused into others is not counted there
NNCF = '''
import glob, os, re, sys
import nncf, numpy as np, openvino as ov
model = ov.Core().read_model(sys.argv[1])
names = [i.get_any_name() for i in model.inputs]
files = [sorted(glob.glob(os.path.join(sys.argv[2], re.sub('[/:]', '_', n), '*.npy'))) for n in names]
if not all(files):
    files = [sorted(glob.glob(os.path.join(sys.argv[2], '*.npy')))]
samples = [dict(zip(names, (np.load(f) for f in row))) for row in zip(*files)]
if any(i.get_partial_shape().is_dynamic for i in model.inputs):
    model.reshape({i: list(samples[0][n].shape) for i, n in zip(model.inputs, names)})
ov.save_model(nncf.quantize(model, nncf.Dataset(samples), subset_size=len(samples)), sys.argv[3], compress_to_fp16=False)
'''
TRACT = '''
import glob, json, os, re, sys
import numpy as np, tract
def run(path, feeds):
    model = tract.onnx().load(path)
    for i, x in enumerate(feeds[0]):
        model.set_input_fact(i, ','.join(map(str, x.shape)) + ',' + {'f': 'f32', 'i': 'i64'}[x.dtype.kind])
    model = model.into_model().into_runnable() if hasattr(model, 'into_model') else model.into_optimized().into_runnable()
    return [[np.asarray(o.to_numpy(), np.float64) for o in model.run(f)] for f in feeds]
model = tract.onnx().load(sys.argv[1])
names = [model.input_name(i) for i in range(model.input_count())]
folders = [os.path.join(sys.argv[3], re.sub('[/:]', '_', n)) if len(names) > 1 else sys.argv[3] for n in names]
feeds = [[np.load(f) for f in row] for row in zip(*(sorted(glob.glob(d + '/*.npy')) for d in folders))]
a, b = run(sys.argv[1], feeds), run(sys.argv[2], feeds)
def sqnr(k):
    signal = sum(float(np.sum(np.square(x[k]))) for x in a)
    noise = sum(float(np.sum(np.square(x[k] - y[k]))) for x, y in zip(a, b))
    return 10 * np.log10(signal / max(noise, 1e-30))
print(json.dumps({'sqnr': [sqnr(k) for k in range(len(a[0]))]}))
'''


def ask(python, script, *arguments):
    done = subprocess.run([python, *script, *arguments], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {'error': (done.stderr or done.stdout).strip().split('\n')[-1][:100]}


def read_openvino(found):
    return found['sqnr'], found['integer_nodes'], 1, '%.2f' % found['time_ratio']['shortest']


def read_htp(found):
    return found.get('sqnr_htp', []), '%d refused' % len(found.get('refused', [])), found.get('partitions', 99), '–'


def read_tract(found):
    return found['sqnr'], '–', 1, '–'


def list_runtimes():
    """Name, interpreter, what is run by it, targets, how its answer is read."""
    checks = os.path.join(oracle.shared_folder(), 'targets')
    runtimes = (('OpenVINO CPU', 'VN_OPENVINO_PYTHON', [os.path.join(checks, 'openvino_check.py')],
                 ('openvino-cpu', 'openvino-cpu-no-vnni'),
                 read_openvino),
                ('Qualcomm HTP', 'VN_QNN_PYTHON', [os.path.join(checks, 'qnn_check.py')], ('qnn-htp', 'qnn-htp-wide'), read_htp),
                ('tract', 'VN_TRACT_PYTHON', ['-c', TRACT], ('tract',), read_tract))
    return [(name, os.environ[python], *rest) for name, python, *rest in runtimes if os.environ.get(python)]


def count_integers(text):
    """Of "53/53" or "2 refused": more is better."""
    match = re.match(r'(\d+)(/(\d+))?', text)
    return 0 if match is None else int(match[1]) / int(match[3]) if match[3] else -int(match[1])


def quantize(cli, path, data, target, out):
    """Share of the multiplications that should be on integers; None: nothing is said of that."""
    report = out + '.json'
    subprocess.run([cli, 'quantize', path, '--data', data, '-p', target, '--skip-compare', '--no-verify', '-o', out, '--report',
                    report], check=True, capture_output=True)
    match = re.search(r'"integer_share" *: *([0-9.]+)', open(report).read())
    return float(match[1]) if match else None


def measure_nncf(path, data, held, runtime, folder, ours):
    """Its row, and whether ours is less accurate."""
    name, python, script, _, read = runtime
    out = os.path.join(folder, 'nncf.xml')
    done = subprocess.run([os.environ['VN_NNCF_PYTHON'], '-c', NNCF, path, data, out], capture_output=True, text=True)
    if done.returncode != 0:
        return (name, 'NNCF', done.stderr.strip().split('\n')[-1][:80], '–', '–', '–'), False
    sqnr, integers, parts, time = read(ask(python, script, path, out, held))
    worst = min(x for x in sqnr if x is not None)
    return (name, 'NNCF', ' '.join('%.1f' % db for db in sqnr), integers, str(parts), time), ours < worst


def measure(cli, path, data, held, runtime, folder):
    """Rows of the table, and what is wrong."""
    name, python, script, targets, read = runtime
    rows, faults, before = [], [], None
    for target in ('cpu',) + targets:
        out = os.path.join(folder, target + '.onnx')
        foretold = quantize(cli, path, data, target, out)
        found = ask(python, script, path, out, held)
        try:
            sqnr, integers, parts, time = read(found)
        except (KeyError, TypeError):
            sqnr, integers, parts, time = [], found.get('error', '?'), 99, '–'
        worst = min(sqnr, default=float('nan'))
        rows.append((name, '`%s`' % target, ' '.join('%.1f' % db for db in sqnr) or 'does not load', integers if sqnr else '–',
                     str(parts) if sqnr else '–', time))
        if before is not None and foretold is not None and found.get('integer_macs', foretold) < foretold - LESS_SHARE:
            faults.append('%s in %s: %.3f of the multiplications on integers, %.3f foretold' %
                          (target, name, found['integer_macs'], foretold))
        # where the runtime lacks an operator of the float network neither loads
        loads = sqnr or (before is not None and before[0] > -99)
        if before is not None and loads and not (worst > before[0] - LESS_DB and
                                                 count_integers(integers) >= count_integers(before[1]) and parts <= before[2]):
            faults.append('%s in %s: %s, %s, %d parts; with cpu %.1f dB, %s, %d parts' %
                          (target, name, sqnr, integers, parts, *before))
        before = before or (worst if sqnr else -99, integers, parts)
    return rows, faults, worst


def describe():
    """Date, processor, versions."""
    flags = re.search(r'^flags\s*:(.*)', open('/proc/cpuinfo').read(), re.M)
    flags = flags[1].split() if flags else []
    widest = next((f for f in ('avx512f', 'avx2', 'sse4_1') if f in flags), 'no AVX').upper()
    vnni = 'with' if {'avx_vnni', 'avx512_vnni'} & set(flags) else 'without'
    versions = []
    for python, packages in (('VN_OPENVINO_PYTHON', ['openvino']), ('VN_NNCF_PYTHON', ['nncf']), ('VN_TRACT_PYTHON', ['tract']),
                             ('VN_QNN_PYTHON', ['onnxruntime-qnn', 'onnxruntime'])):
        script = 'import importlib.metadata as m; print(", ".join(p + " " + m.version(p) for p in %r))' % packages
        if os.environ.get(python):
            versions.append(subprocess.run([os.environ[python], '-c', script], capture_output=True, text=True).stdout.strip())
    return 'Measured on %s, %s with %s %s VNNI: %s.' % (datetime.date.today(), os.uname().machine, widest, vnni,
                                                        ', '.join(versions))


def write(page, rows):
    text = open(page).read()
    table = [describe(), '']
    table += ['| network | runtime | | dB | products on integers | parts | time beside float |', '|---|---|---|---|---|---|---|']
    table += ['| %s |' % ' | '.join(row) for row in rows]
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    open(page, 'w').write(text[:begin] + '\n\n' + '\n'.join(table) + '\n' + text[end:])


def main():
    arguments = sys.argv[2:]
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    has_times = '--no-times' not in arguments
    names = [a for a in arguments if a not in ('--write', '--no-times')] or NETWORKS
    runtimes, rows, faults, less = list_runtimes(), [], [], []
    if not runtimes:
        oracle.skip('no interpreter of a runtime is set')
    for stem in names:
        path = os.path.join(oracle.shared_folder(), 'models', stem + '.onnx')
        with tempfile.TemporaryDirectory() as folder:
            calibration, held = (os.path.join(folder, part) for part in ('calibration', 'held'))
            for part, samples in zip((calibration, held), presets.make_samples(oracle.shared_folder(), path, stem)):
                os.makedirs(part)
                presets.save(samples, part)
            for runtime in runtimes:
                folders = os.path.join(calibration, 'data'), os.path.join(held, 'data'), runtime, folder
                found, wrong, worst = measure(sys.argv[1], path, *folders)
                if runtime[0].startswith('OpenVINO') and os.environ.get('VN_NNCF_PYTHON'):
                    row, is_less = measure_nncf(path, *folders, worst)
                    found.append(row)
                    less += [stem] if is_less else []
                found = found if has_times else [(*row[:-1], '–') for row in found]
                rows += [(stem, *row) for row in found]
                faults += ['%s: %s' % (stem, fault) for fault in wrong]
                for row in found:
                    print(stem, *row, sep='  ', flush=True)
    if len(less) > 1:
        faults.append('less accurate than NNCF in OpenVINO: %s' % ', '.join(less))
    if page:
        write(page, rows)
    print('\n'.join(faults) or '%d rows' % len(rows))
    sys.exit(bool(faults) or not rows)


if __name__ == '__main__':
    oracle.use_oracle_python()
    main()
