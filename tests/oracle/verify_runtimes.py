#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""verify_runtimes.py CLI [NETWORK...]: `vernier-cli verify` in runtimes other than ONNX Runtime against independent scripts.

Each network of the shared data is quantized for the targets of a runtime and with the preset `cpu`, and `verify` runs it there
without being told where, as the file says what it is for. The shared scripts openvino_check.py and qnn_check.py, and one of
target_runtimes.py for tract, do the same on the same samples: decibels against float to 0.1, products on integers, nodes that are
refused and parts must be the same. VN_OPENVINO_PYTHON, VN_QNN_PYTHON, VN_TRACT_PYTHON are interpreters that have openvino,
onnxruntime-qnn, tract; a runtime without one is left out, and without any the script skips.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
import presets
from target_runtimes import TRACT, ask

NETWORKS = ('cls_mobilenetv2_035_128_flowers', 'det_ultraface_rfb320', 'vit_cct2_32_op20')
NEAR_DB = 0.1
SAMPLES = '3'


def read_openvino(found):
    integers, all_ = (int(n) for n in found['integer_nodes'].split('/'))
    return {'db': found['sqnr'], 'integers': integers, 'products': all_, 'share': round(found['integer_macs'], 3)}


def read_qnn(found):
    return {'db': found['sqnr_htp'], 'parts': found['partitions'], 'refused': sorted(r['node'] for r in found['refused'])}


def read_tract(found):
    return {'db': [round(db, 1) for db in found['sqnr']]}


def read_ours(said, wanted):
    """The same of what `verify` tells."""
    names = list(dict.fromkeys(o['name'] for o in said['outputs']))
    whole = {o['name']: o['runtime_sqnr_db'] for o in said['outputs'] if 'part' not in o}
    all_ = {'db': [whole.get(name) for name in names],
            'integers': said.get('integer_products'), 'products': said.get('products'),
            'share': round(said.get('integer_share', -1), 3), 'parts': said.get('partitions'),
            'refused': sorted(node['name'] for node in said.get('refused_nodes', []))}
    return {key: all_[key] for key in wanted}


def list_runtimes():
    """Id, interpreter, the independent script, targets, how its answer is read."""
    checks = os.path.join(oracle.shared_folder(), 'targets')
    openvino = [os.path.join(checks, 'openvino_check.py'), '--samples', SAMPLES, '--rounds', '0']
    runtimes = (('openvino', 'VN_OPENVINO_PYTHON', openvino, ('openvino-cpu',), read_openvino),
                ('qnn', 'VN_QNN_PYTHON', [os.path.join(checks, 'qnn_check.py'), '--samples', SAMPLES],
                 ('qnn-htp', 'qnn-htp-wide', 'qnn-htp-4bit'), read_qnn),
                ('tract', 'VN_TRACT_PYTHON', ['-c', TRACT], ('tract',), read_tract))
    return [(name, os.environ[python], *rest) for name, python, *rest in runtimes if os.environ.get(python)]


def is_same(ours, wanted):
    """Where a part of an output is told in the place of the whole, its decibels are not compared."""
    near = len(ours['db']) == len(wanted['db']) and all(a is None or abs(a - b) <= NEAR_DB + 0.051    # they round
                                                        for a, b in zip(ours['db'], wanted['db']))
    return near and all(ours[key] == wanted[key] for key in wanted if key != 'db')


def compare(cli, path, folder, held, target, runtime):
    """What is wrong, and what was compared, in a line."""
    name, python, script, targets, read = runtime
    export = os.path.join(folder, target + '.onnx')
    there = ['--runtime', name] if target not in targets else []
    done = subprocess.run([cli, 'verify', export, '--model', path, '--data', held, '--samples', SAMPLES, '--runs', '3', '--json',
                           *there], capture_output=True, text=True)
    found = ask(python, script, path, export, held)
    if done.returncode != 0 or 'error' in found:
        return '%s: %s; %s' % (target, done.stdout[-300:] + done.stderr[-300:], found)
    said, wanted = json.loads(done.stdout), read(found)
    ours = read_ours(said, wanted)
    print(os.path.basename(path), name, target, ours, wanted, sep='  ', flush=True)
    if said['runtime'] != name:
        return '%s: run in %s instead of %s' % (target, said['runtime'], name)
    return None if is_same(ours, wanted) else '%s in %s: %s instead of %s' % (target, name, ours, wanted)


def main():
    cli, names = sys.argv[1], sys.argv[2:] or NETWORKS
    runtimes, faults, n = list_runtimes(), [], 0
    if not runtimes:
        oracle.skip('no interpreter of a runtime is set')
    os.environ.pop('VN_NO_VERIFY', None)
    for stem in names:
        path = os.path.join(oracle.shared_folder(), 'models', stem + '.onnx')
        with tempfile.TemporaryDirectory() as folder:
            calibration, held = (os.path.join(folder, part) for part in ('calibration', 'held'))
            for part, samples in zip((calibration, held), presets.make_samples(oracle.shared_folder(), path, stem)):
                os.makedirs(part)
                presets.save(samples, part)
            for target in ['cpu'] + [target for runtime in runtimes for target in runtime[3]]:
                subprocess.run([cli, 'quantize', path, '--data', os.path.join(calibration, 'data'), '-p', target,
                                '--skip-compare', '--no-verify', '-o', os.path.join(folder, target + '.onnx')], check=True,
                               capture_output=True)
            for runtime in runtimes:
                for target in ('cpu',) + runtime[3]:
                    fault = compare(cli, path, folder, os.path.join(held, 'data'), target, runtime)
                    faults += ['%s: %s' % (stem, fault)] if fault else []
                    n += 1
    print('\n'.join(faults) or '%d comparisons' % n)
    sys.exit(bool(faults) or n == 0)


if __name__ == '__main__':
    oracle.use_oracle_python()
    main()
