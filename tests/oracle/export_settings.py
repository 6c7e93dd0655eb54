#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""export_settings.py CLI: the script for onnxruntime.quantization runs and finds the scales that Vernier finds, and the
configuration of XQuant says what the recipe says when it is read again."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
from onnx import numpy_helper    # noqa: E402

CLI = os.path.realpath(sys.argv[1])
SETTINGS = [
    ['--preset', 'cpu'],
    ['--preset', 'cpu', '--per-tensor'],
    ['--preset', 'cpu-s8', '--symmetric'],
    ['--preset', 'cpu', '--method', 'percentile', '--percentile', '99.9'],
    ['--preset', 'cpu', '--reduce-range', '--exclude', 'type:Conv'],
    ['--preset', 'cpu', '--method', 'average', '--keep-clamps', '--dedicated-pairs', '--minimum-real-range=0.001'],
    ['--preset', 'cpu', '--op-types=Conv', '--op-types=MatMul', '--op-types=Relu', '--quantize-bias=false'],
    ['--preset', 'cpu-s8', '--method', 'percentile', '--percentile', '99.9', '--two-sided', '--raise-weight-scales=false'],
    ['--preset', 'cpu', '--subgraphs'],
    ['--preset', 'cpu', '--samples', '5'],
]
MODELS = ['kws_micro_fp32', 'mnist_rten_op18']
failures = []


def check(what, ok):
    print('ok' if ok else 'NOT OK', what)
    if not ok:
        failures.append(what)


def quantize(*args):
    result = subprocess.run([CLI, 'quantize', *args, '--held-out', '0', '--skip-compare'], capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stderr)
    return result.returncode == 0


def scales(path):
    """Scale and zero point by name of tensor."""
    model = onnx.load(path)
    init = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    found = {}
    for node in model.graph.node:
        if node.op_type in ('QuantizeLinear', 'DequantizeLinear'):
            found[node.input[1]] = (init[node.input[1]], init.get(node.input[2]) if len(node.input) > 2 else None)
    return found


def same(a, b, tolerance):
    if not np.allclose(a[0], b[0], rtol=tolerance, atol=0):
        return False
    return a[1] is None or b[1] is None or tolerance > 1e-3 or np.array_equal(np.ravel(a[1]), np.ravel(b[1]))


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    rng = np.random.default_rng(6)
    for model in MODELS:
        path = os.path.join(oracle.shared_folder(), 'models', model + '.onnx')
        shape = [d if isinstance(d, int) else 1 for d in oracle.open_session(path).get_inputs()[0].shape]
        os.makedirs(model)
        for i in range(12):   # in the order of their numbers
            np.save(f'{model}/{i}.npy', rng.normal(size=shape).astype(np.float32))
        for settings in SETTINGS:
            what = f'{model} {" ".join(settings)}'
            check(what, quantize(path, '-o', 'ours.onnx', '--data', model, '--export-script', 'script.py', *settings))
            peer = subprocess.run([sys.executable, 'script.py', path, 'peer.onnx'], capture_output=True, text=True)
            check(what + ': the script runs', peer.returncode == 0)
            if peer.returncode != 0:
                print(peer.stderr[-2000:])
                continue
            ours, theirs = scales('ours.onnx'), scales('peer.onnx')
            shared = [n for n in ours if n in theirs]
            # A bin of the peer's histogram is 1/128 of the range of the first sample.
            tolerance = 0.02 if 'percentile' in settings else 1e-6
            wrong = [n for n in shared if not same(ours[n], theirs[n], tolerance)]
            check(f'{what}: {len(shared)} of {len(ours)} and {len(theirs)} scales, {len(wrong)} differ',
                  not wrong and len(shared) >= max(1, 0.9 * len(theirs)))
            for n in wrong[:4]:
                print('   ', n, ours[n], theirs[n])
    config = {'model_parameters': {'onnx_model': path},
              'calibration_parameters': {'calibration_type': 'kl', 'input_parametres': [{'data_list_path': 'list.txt'}]},
              'quantization_parameters': {'precision_level': 2, 'max_percentile': 0.9995, 'ignore_op_types': ['MaxPool'],
                                          'ignore_op_names': ['nothing'], 'finetune_level': 0}}
    with open('a.json', 'w') as f:
        json.dump(config, f)
    with open('list.txt', 'w') as f:
        f.writelines(f'{model}/{i}.npy\n' for i in range(6))
    recipes = []
    for source, out in (('a.json', 'b.json'), ('b.json', 'c.json')):
        check(f'{source}', quantize(path, '-o', 'x.onnx', '--config', source, '--export-xquant', out, '--save-recipe', 'r.json'))
        with open('r.json') as f:
            recipes.append(json.load(f))
    check('the configuration says the same again', recipes[0] == recipes[1])
    for level in (3, 4):
        with open('level.json', 'w') as f:
            json.dump({'quantization_parameters': {'precision_level': level}}, f)
        check(f'level {level}', quantize(path, '-o', 'x.onnx', '--config', 'level.json', '--data', model, '--export-xquant',
                                         'd.json'))
        with open('d.json') as f:
            check(f'level {level} again', json.load(f)['quantization_parameters']['precision_level'] == level)
    # What cannot be written is named.
    for option, ids in (('--export-script', ('weight-method', 'align-concat')), ('--export-xquant', ('weight-method', 'npu'))):
        told = subprocess.run([CLI, 'quantize', path, '-o', 'x.onnx', '--data', model, '--preset', 'npu-cnn', '--align-concat',
                               '--held-out', '0', '--skip-compare', option, 'out.txt'], capture_output=True, text=True)
        for name in ids:
            check(f'{option} names {name}: {told.stderr}', told.returncode == 0 and f'warning: {name}: ' in told.stderr)
    # Also what becomes of samples, on the terminal and in the script, which others may get alone.
    for options, subject in ((['--fit', 'crop'], 'fit'), (['--fit', 'letterbox'], 'fit'), (['--resample', 'area'], 'resample'),
                             (['--layout', 'nchw'], 'layout'), (['--held-out', '2'], 'held-out')):
        told = subprocess.run([CLI, 'quantize', path, '-o', 'x.onnx', '--data', model, '--skip-compare', '--export-script',
                               'out.py',
                               *(options if '--held-out' in options else ['--held-out', '0',
                                                                          *options])], capture_output=True, text=True)
        with open('out.py', encoding='utf-8') as f:
            lines = f.read().splitlines()
        left_out = [line for line in lines if line.startswith('#   ')]
        check(f'{subject} is said: {told.stderr}', told.returncode == 0 and f'warning: {subject}: ' in told.stderr)
        check(f'{subject} stands in the script: {left_out}', len(left_out) == 1 and left_out[0].startswith(f'#   {subject}: '))
    check('nothing is left out', quantize(path, '-o', 'x.onnx', '--data', model, '--export-script', 'out.py'))
    with open('out.py', encoding='utf-8') as f:
        check('the script says so', not any(line.startswith('# ') for line in f.read().splitlines()))
    sys.exit(1 if failures else 0)


main()
