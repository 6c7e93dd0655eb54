#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""forms.py CLI [--all] [--opset N] [--setting NAME] [FORM ...]: operators in all their forms (form_networks.py), quantized with
several settings, in ONNX Runtime as written and with its optimizations: each loads, runs, is as accurate either way, and as
Vernier told. All forms of an opset are branches of one network; where that fails it is halved until the form at fault is found.
--all: all settings, of which the test takes one for each opset."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np                       # noqa: E402
import onnx                              # noqa: E402
import onnxruntime                       # noqa: E402
import form_networks as networks         # noqa: E402

N_SAMPLES = 5
LEAST = 150               # forms with each setting
ENOUGH, MARGIN = 45, 3    # dB: as written and optimized may differ by the margin where they are not both above the first
TOLD, TOLD_MARGIN = 40, 4
LEVELS = (onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
AXES = [f'--channel-axes={axis}' for axis in ('MatMul=0', 'Conv=1', 'Gemm=0')]
SETTINGS = {'cpu': ['-p', 'cpu'], 'cpu-s8': ['-p', 'cpu-s8'], 'qlinear': ['-p', 'qlinear'], 'a16w8': ['-p', 'a16w8']}
# One for each opset; --all: all of them at each.
OF_OPSET = {11: ('qlinear',), 18: ('cpu',), 21: ('a16w8',)}
# --all: each at one opset.
MORE = {'axes': ['-p', 'cpu', *AXES], 'int16-float-bias': ['-p', 'int16', '--bias=float32'], 'xquant': ['-p', 'xquant'],
        'u16-float-bias': ['-p', 'cpu', '--activation=u16', '--weight=u16', '--bias=float32']}
MORE_OPSET = 18
OTHERS = {'s8-axes': ['-p', 'cpu-s8', '--per-channel', *AXES], 'cpu-u8': ['-p', 'cpu', '--weight=u8'],
          'optimize': ['-p', 'cpu', '--optimize'],
          'qlinear-channels': ['-p', 'qlinear', '--per-channel'], **{p: ['-p', p] for p in (
              'int16', 'npu-cnn', 'npu-transformer', 'dynamic', 'w8', 'w4', 'w4-matmul', 'fp16', 'bf16', 'bfp16')}}


def run_session(model, feeds, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level, options.intra_op_num_threads = level, 4, 1
    session = oracle.open_session(model, options)
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, map(np.stack, zip(*(session.run(None, f) for f in feeds)))))


def sqnr(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    if a.shape != b.shape or not np.isfinite(b).all():
        return -np.inf
    noise = np.sum((a - b) ** 2)
    return 200.0 if noise == 0 else 10 * np.log10(max(np.sum(a ** 2), 1e-30) / noise)


def save_samples(feeds, folder):
    for i, feed in enumerate(feeds):
        os.makedirs(f'{folder}/test_data_set_{i}')
        for k, (name, value) in enumerate(feed.items()):
            with open(f'{folder}/test_data_set_{i}/input_{k}.pb', 'wb') as f:
                f.write(onnx.numpy_helper.from_array(value, name).SerializeToString())


class Trial:
    """Some forms at one opset: the network, its samples and what float gives."""

    def __init__(self, entries, opset, folder):
        self.entries, self.opset, self.folder = entries, opset, folder
        self.feeds = networks.make_samples({e[1] for e in entries}, N_SAMPLES)
        os.makedirs(folder)
        model = networks.make_network(entries, opset)
        onnx.save(model, f'{folder}/model.onnx')
        save_samples(self.feeds, f'{folder}/samples')
        self.floats = run_session(model, self.feeds, LEVELS[0])

    def quantize(self, cli, options):
        """(file, {output: SQNR that is told}); RuntimeError: what Vernier said"""
        path = f'{self.folder}/out.onnx'
        run = subprocess.run([cli, 'quantize', f'{self.folder}/model.onnx', '-o', path, '-d', f'{self.folder}/samples', '--json',
                              '--threads=1',
                              *options], capture_output=True, text=True)
        if run.returncode != 0 or not run.stdout:
            raise RuntimeError((run.stderr.strip().splitlines() or [f'exit {run.returncode}'])[-1])
        tensors = json.loads(run.stdout)['report']['tensors']
        return path, {t['tensor']: t['sqnr_db'] for t in tensors if t['output']}

    def judge(self, cli, options):
        """{form: fault}; Exception: what ONNX Runtime or Vernier said, of the network as a whole"""
        path, told = self.quantize(cli, options)
        written, optimized = (run_session(path, self.feeds, level) for level in LEVELS)
        return {name: fault for name, value in self.floats.items()
                if (fault := find_fault(value, written[name], optimized[name], told.get(name)))}

    def halves(self):
        half = len(self.entries) // 2
        for part in (self.entries[:half], self.entries[half:]):
            yield Trial(part, self.opset, tempfile.mkdtemp(dir=os.path.dirname(self.folder)) + '/trial')


def find_fault(value, written, optimized, told):
    w, o = sqnr(value, written), sqnr(value, optimized)
    told = told if isinstance(told, float) else 200.0                  # without noise there is none
    best = max(sqnr(a, b) for a, b in zip(value, written))             # one of the samples is the one that was measured
    if o < min(w, ENOUGH) - MARGIN or best < min(told, TOLD) - TOLD_MARGIN:
        return f'told {told:.1f}, as written {w:.1f}, optimized {o:.1f} dB'
    return None


def find_faults(trial, cli, options):
    try:
        return trial.judge(cli, options)
    except Exception as error:    # ONNX Runtime's own kinds, and Vernier's messages
        if len(trial.entries) == 1:
            return {trial.entries[0][0]: str(error).splitlines()[0][:200]}
    return {name: fault for half in trial.halves() for name, fault in find_faults(half, cli, options).items()}


def check_pads(cli, folder):
    """Pads that a Conv can add are none of their own, but where the export is as another tool's."""
    trial = Trial([e for e in networks.list_forms(MORE_OPSET) if e[0] == 'Pad-into-Conv'], MORE_OPSET, f'{folder}/pads')
    for preset, expected in (('cpu', 0), ('a16w8', 0), ('qlinear', 0), ('npu-transformer', 1)):
        path, _ = trial.quantize(cli, ['-p', preset])
        n = sum(node.op_type == 'Pad' for node in onnx.load(path).graph.node)
        assert n == expected, f'{preset}: {n} Pad'


def list_option(name):
    return [sys.argv[i + 1] for i, a in enumerate(sys.argv) if a == name]


def list_settings(opset):
    some = SETTINGS if '--all' in sys.argv else {k: v for k, v in SETTINGS.items() if k in OF_OPSET.get(opset, SETTINGS)}
    settings = {**some, **({**MORE, **OTHERS} if opset == MORE_OPSET and '--all' in sys.argv else {})}
    wanted = list_option('--setting')
    return {k: v for k, v in {**settings, **SETTINGS, **MORE, **OTHERS}.items() if k in wanted} if wanted else settings


def main():
    cli = sys.argv[1]
    wanted = [a for i, a in enumerate(sys.argv[2:], 2) if not a.startswith('--')
              and sys.argv[i - 1] not in ('--opset', '--setting')]
    n, short, faults = {}, [], 0
    with tempfile.TemporaryDirectory() as folder:
        check_pads(cli, folder)
        for opset in list(map(int, list_option('--opset'))) or networks.OPSETS:
            entries = [e for e in networks.list_forms(opset) if not wanted or any(w in e[0] for w in wanted)]
            trial = Trial(entries, opset, f'{folder}/{opset}')
            for setting, options in list_settings(opset).items():
                found = find_faults(trial, cli, options)
                n[setting] = n.get(setting, 0) + len(entries)
                faults += len(found)
                for name, fault in found.items():
                    print(f'{name}, opset {opset}, {setting}: {fault}', flush=True)
    if not wanted:
        short = [setting for setting, count in n.items() if count < LEAST]
    print(f'{faults} of {sum(n.values())} forms are wrong', f'too few forms: {", ".join(short)}' if short else '')
    sys.exit(faults > 0 or bool(short) or not n)


if __name__ == '__main__':
    main()
