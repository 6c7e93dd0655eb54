#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""already_quantized.py VERNIER_CLI: networks that are quantized already, by whatever tool, and those that are not.

Every model of the shared folder is sorted by its operators, read with onnx. Of the quantized ones `inspect` says so; they run;
`prepare` leaves them what they are and their outputs the same; `compare` with the float network they were made from finds the
error that onnxruntime finds; and whatever would quantize them a second time refuses, says why, and writes nothing. The same for
what our own formats write.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
from end_to_end import session, sqnr

MARKS = ('QuantizeLinear', 'DequantizeLinear', 'QLinear', 'MatMulNBits', 'RequantShift', 'Integer', 'FixNeuron')
BREVITAS = ('onnx.brevitas', 'Quant')
# quantized, and the float network it was made from
TWINS = [('kws_micro_qdq', 'kws_micro_fp32'), ('kws_micro_qoperator', 'kws_micro_fp32')]
REFUSED = [['--preset', p] for p in ('cpu', 'qlinear', 'dynamic', 'w8', 'w4-matmul', 'fp16', 'bf16', 'npu-cnn', 'fixneuron')]
NOT_INTEGERS = ('fp16', 'bf16', 'bf16-weights')    # presets that convert: what they write is a float network
OURS = 'mnist_cntk_op8'
SAMPLES = 4

failed = checks = 0


def check(what, good, why=''):
    global failed, checks
    checks += 1
    if not good:
        failed += 1
        print(f'not ok: {what} {why}', flush=True)


def call(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def is_quantized(path):
    import onnx

    nodes = onnx.load(path, load_external_data=False).graph.node
    return any(any(m in n.op_type for m in MARKS) or (n.domain, n.op_type) == BREVITAS for n in nodes)


def samples_for(path, stem):
    shapes = [(i.name, oracle.input_shape(stem, i.shape, name=i.name)) for i in session(path).get_inputs()]
    return [{name: oracle.signal_input(stem, n, shape, 'float32') for name, shape in shapes} for n in range(SAMPLES)]


def check_refusals(cli, path, stem, folder):
    out = os.path.join(folder, 'again.onnx')
    config, names = os.path.join(folder, 'config.json'), os.path.join(folder, 'list.txt')
    with open(config, 'w', encoding='utf-8') as file:
        json.dump({'calibration_parameters': {'input_parametres': [{'file_type': 'npy', 'data_list_path': names}]}}, file)
    with open(names, 'w', encoding='utf-8') as file:
        file.write(path + '\n')     # nobody gets as far as to read it
    data = ['--data', 'random', '--samples', '2', '--held-out', '0']
    commands = [('quantize', path, '-o', out, *data, *options) for options in REFUSED]
    commands += [('calibrate', path, '-o', out, '--data', 'random', '--samples', '2'),
                 ('xquant', '-c', config, '-i', path, '-o', out)]
    for command in commands:
        done = call(cli, *command)
        label = f'{stem}: {" ".join(str(c) for c in command[:1] + command[4:])}'
        check(label, done.returncode == 1, f'exit {done.returncode} {done.stdout}')
        check(label, 'already quantized' in done.stderr, done.stderr)
        check(label, not os.path.exists(out) and not glob.glob(out + '*'), 'a file was written')


def check_shown(cli, path, stem, quantized):
    done = call(cli, 'inspect', path, '--json')
    check(stem + ': inspect', done.returncode == 0, done.stderr)
    if done.returncode == 0:
        found = json.loads(done.stdout)['quantized_nodes']
        check(stem + ': inspect', (found > 0) == quantized, f'{found} quantized nodes')
        text = call(cli, 'inspect', path).stdout
        check(stem + ': inspect', ('Already quantized' in text) == quantized, text)


def check_prepared(cli, path, stem, folder):
    """Still quantized, and onnxruntime computes the same with it."""
    out = os.path.join(folder, 'prepared.onnx')
    done = call(cli, 'prepare', path, '-o', out)
    check(stem + ': prepare', done.returncode == 0, done.stderr)
    if done.returncode != 0:
        return
    check(stem + ': prepare', is_quantized(out), 'it is float now')
    feeds = samples_for(path, stem)[0]
    before, after = (session(p, as_written=True).run(None, feeds) for p in (path, out))
    for a, b in zip(before, after):
        check(stem + ': prepare', sqnr([(a, b)]) >= 60, f'{sqnr([(a, b)]):.1f} dB')


def check_run(cli, path, stem, folder):
    done = call(cli, 'run', path, '-o', os.path.join(folder, 'out'))
    check(stem + ': run', done.returncode == 0, done.stderr)


def check_twin(cli, models, stem, twin, folder):
    """Outputs of both in onnxruntime, as written."""
    import numpy as np

    quantized, plain = (os.path.join(models, s + '.onnx') for s in (stem, twin))
    samples = samples_for(plain, twin)
    data = os.path.join(folder, 'data')
    os.makedirs(data, exist_ok=True)
    for i, feeds in enumerate(samples):
        np.save(os.path.join(data, '%d.npy' % i), next(iter(feeds.values())))
    done = call(cli, 'compare', plain, quantized, '--data', data, '--json')
    check(f'{stem}: compare', done.returncode == 0, done.stderr)
    a, b = session(plain, as_written=True), session(quantized, as_written=True)
    expected = sqnr([(a.run(None, x)[0], b.run(None, x)[0]) for x in samples])
    found = json.loads(done.stdout)['report']
    check(f'{stem}: compare', abs(found['summary']['sqnr_db'] - expected) < 0.1,
          f'{found["summary"]["sqnr_db"]} dB, onnxruntime {expected:.2f}')
    check(f'{stem}: compare', len(found['tensors']) > 3, f'{len(found["tensors"])} tensors')
    print(f'{stem}: {found["summary"]["sqnr_db"]:.2f} dB of {twin}, onnxruntime {expected:.2f}; {len(found["tensors"])} tensors')


def check_ours(cli, models, folder):
    """What every preset writes is known again."""
    source = os.path.join(models, OURS + '.onnx')
    done = call(cli, 'quantize', source, '-o', os.path.join(folder, 'x.onnx'), '--preset', '?')
    presets = done.stderr.strip().rsplit(': ', 1)[1].split(', ')
    check('presets', len(presets) > 10, done.stderr)
    for preset in presets:
        out, again = (os.path.join(folder, n) for n in (f'{preset}.onnx', 'again.onnx'))
        done = call(cli, 'quantize', source, '-o', out, '--preset', preset, '--data', 'random', '--samples', '2', '--held-out',
                    '0')
        check(preset, done.returncode == 0, done.stderr)
        second = call(cli, 'quantize', out, '-o', again, '--data', 'random', '--samples', '2', '--held-out', '0')
        refused = second.returncode == 1 and 'already quantized' in second.stderr and not os.path.exists(again)
        check(preset + ' again', refused != (preset in NOT_INTEGERS), second.stderr + second.stdout)
        if os.path.exists(again):
            os.unlink(again)


def main():
    oracle.use_oracle_python()
    models = os.path.join(oracle.shared_folder(), 'models')
    cli = os.path.abspath(sys.argv[1])
    paths = sorted(glob.glob(os.path.join(models, '**', '*.onnx'), recursive=True))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            stem, broken = os.path.splitext(os.path.basename(path))[0], os.path.basename(os.path.dirname(path)) == 'broken'
            if broken and call(cli, 'inspect', path).returncode != 0:
                continue
            quantized = is_quantized(path)
            check_shown(cli, path, stem, quantized)
            if not quantized:
                continue
            found.append(stem)
            check_refusals(cli, path, stem, folder)
            if not broken:     # these have operators that nobody runs
                check_run(cli, path, stem, folder)
                check_prepared(cli, path, stem, folder)
        for stem, twin in TWINS:
            check_twin(cli, models, stem, twin, folder)
        check_ours(cli, models, folder)
    print(f'{len(found)} quantized networks: {", ".join(found)}')
    print(f'{checks} checks, {failed} failed')
    sys.exit(0 if len(found) >= 7 and failed == 0 else 1)


if __name__ == '__main__':
    main()
