#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""target_runtimes.py CLI [--write PAGE] [NETWORK...]: what real runtimes make of the targets that are for them.

Each network of the shared data is quantized with the preset `cpu` and with the target of a runtime, on photographs or random
numbers, and runs there: error against the float network on samples that were not calibrated on, products on integers, parts
that the runtime cuts the network into. The target must be about as accurate as `cpu` there, with no more parts and no fewer
products on integers. VN_OPENVINO_PYTHON, VN_QNN_PYTHON, VN_TRACT_PYTHON are interpreters that have openvino, onnxruntime-qnn
(whose simulator of Hexagon counts, not its times), tract; a runtime without one is left out, and without any the script skips.
With --write the table in data/help/vernier-targets.md is made anew.
"""
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
            'txt_tashkeel_transformer_fp32')
BEGIN, END = '<!-- runtimes: made by tests/oracle/target_runtimes.py --write -->', '<!-- runtimes end -->'
LESS_DB = 1.5     # chance of a few samples, and of another rounding
TRACT = '''
import glob, json, sys
import numpy as np, tract
def run(path, feeds):
    model = tract.onnx().load(path)
    for i, x in enumerate(feeds[0]):
        model.set_input_fact(i, ','.join(map(str, x.shape)) + ',' + {'f': 'f32', 'i': 'i64'}[x.dtype.kind])
    model = model.into_model().into_runnable() if hasattr(model, 'into_model') else model.into_optimized().into_runnable()
    return [model.run(f)[0].to_numpy() for f in feeds]
feeds = [[np.load(f)] for f in sorted(glob.glob(sys.argv[3] + '/*.npy'))]
a, b = run(sys.argv[1], feeds), run(sys.argv[2], feeds)
noise, signal = (sum(float(np.sum(np.square(x.astype(np.float64)))) for x in xs) for xs in ([x - y for x, y in zip(a, b)], a))
print(json.dumps({'sqnr': [10 * np.log10(signal / max(noise, 1e-30))]}))
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
    runtimes = (('OpenVINO CPU', 'VN_OPENVINO_PYTHON', [os.path.join(checks, 'openvino_check.py')], ('openvino-cpu',),
                 read_openvino),
                ('Qualcomm HTP', 'VN_QNN_PYTHON', [os.path.join(checks, 'qnn_check.py')], ('qnn-htp', 'qnn-htp-wide'), read_htp),
                ('tract', 'VN_TRACT_PYTHON', ['-c', TRACT], ('tract',), read_tract))
    return [(name, os.environ[python], *rest) for name, python, *rest in runtimes if os.environ.get(python)]


def count_integers(text):
    """Of "53/53" or "2 refused": more is better."""
    match = re.match(r'(\d+)(/(\d+))?', text)
    return 0 if match is None else int(match[1]) / int(match[3]) if match[3] else -int(match[1])


def measure(cli, path, data, held, runtime, folder):
    """Rows of the table, and what is wrong."""
    name, python, script, targets, read = runtime
    rows, faults, before = [], [], None
    for target in ('cpu',) + targets:
        out = os.path.join(folder, target + '.onnx')
        subprocess.run([cli, 'quantize', path, '--data', data, '-p', target, '--skip-compare', '--no-verify', '-o', out],
                       check=True, capture_output=True)
        found = ask(python, script, path, out, held)
        try:
            sqnr, integers, parts, time = read(found)
        except (KeyError, TypeError):
            sqnr, integers, parts, time = [], found.get('error', '?'), 99, '–'
        worst = min(sqnr, default=float('nan'))
        rows.append((name, '`%s`' % target, ' '.join('%.1f' % db for db in sqnr) or integers, integers if sqnr else '–',
                     str(parts) if sqnr else '–', time))
        if before is not None and not (worst > before[0] - LESS_DB and count_integers(integers) >= count_integers(before[1]) and
                                       parts <= before[2]):
            faults.append('%s in %s: %s, %s, %d parts; with cpu %.1f dB, %s, %d parts' %
                          (target, name, sqnr, integers, parts, *before))
        before = before or (worst if sqnr else -99, integers, parts)
    return rows, faults


def write(page, rows):
    text = open(page).read()
    table = ['| network | runtime | | dB | products on integers | parts | time beside float |', '|---|---|---|---|---|---|---|']
    table += ['| %s |' % ' | '.join(row) for row in rows]
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    open(page, 'w').write(text[:begin] + '\n' + '\n'.join(table) + '\n' + text[end:])


def main():
    arguments = sys.argv[2:]
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    names = [a for a in arguments if a != '--write'] or NETWORKS
    runtimes, rows, faults = list_runtimes(), [], []
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
                found, wrong = measure(sys.argv[1], path, os.path.join(calibration, 'data'), os.path.join(held, 'data'), runtime,
                                       folder)
                rows += [(stem, *row) for row in found]
                faults += ['%s: %s' % (stem, fault) for fault in wrong]
                for row in found:
                    print(stem, *row, sep='  ', flush=True)
    if page:
        write(page, rows)
    print('\n'.join(faults) or '%d rows' % len(rows))
    sys.exit(bool(faults) or not rows)


if __name__ == '__main__':
    oracle.use_oracle_python()
    main()
