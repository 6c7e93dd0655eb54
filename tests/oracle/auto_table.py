#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""auto_table.py VERNIER_CLI [--write PAGE] [--all] [--first-only] [--time SECONDS] [MODEL...]: what --auto, and --auto
--accuracy-first, make of real networks, judged by onnxruntime: mean signal to noise of the outputs on held-out samples, time of
one sample beside the float network (one thread, best of 20 in turns), size and how long it took. Prints the table for the
documentation, and writes it there.
--all: all float networks of the shared folder; --first-only: without --accuracy-first; --time: for --auto, on a busy machine.

The table has the figures of the first 6 photographs that were not calibrated with; what --auto gains for one sample is judged by
all there are. Fails where an export is invalid, or where that gain is below zero by more than two standard errors."""
import os
import subprocess
import sys
import tempfile
import time

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from samples import Source    # noqa: E402

MODELS = ['cls_mobilenetv2_035_128_flowers', 'sr_espcn_bsd300_rgb', 'seg_sinet_portrait_320', 'det_ultraface_rfb320',
          'det_nanodet_m_320',
          'det_picodet_xs_416_op10', 'det_yolox_nano_416', 'cls_squeezenet10_fp32_from_fp16', 'det_openseeface_mnv3']
FORMS = [('plain', []), ('--auto', ['--auto']), ('--accuracy-first', ['--auto', '--accuracy-first'])]
CALIBRATION, TESTS, IN_TABLE, TURNS = 24, 30, 6, 20
BEGIN, END = '<!-- auto: made by tests/oracle/auto_table.py --write -->', '<!-- auto end -->'


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return oracle.open_session(path, options)


def mean_sqnr(wanted, found):
    """Of each output of floats over all samples; the mean over the outputs."""
    figures = []
    for k in range(len(wanted[0])):
        if wanted[0][k].dtype not in (np.float32, np.float16):
            continue
        signal = sum((a[k].astype(np.float64) ** 2).sum() for a in wanted)
        noise = sum(((a[k].astype(np.float64) - b[k].astype(np.float64)) ** 2).sum() for a, b in zip(wanted, found))
        figures.append(10 * np.log10(max(signal, 1e-30) / max(noise, 1e-20 * signal, 1e-30)))
    return float(np.mean(figures))


def find_gain(wanted, plain, found):
    """Of one sample, in dB: the mean, and its standard error."""
    gains = [mean_sqnr([w], [f]) - mean_sqnr([w], [p]) for w, p, f in zip(wanted, plain, found)]
    return float(np.mean(gains)), float(np.std(gains) / max(1, len(gains) - 1) ** 0.5)


def measure_times(sessions, feed):
    best = [np.inf] * len(sessions)
    for _ in range(TURNS):
        for k, session in enumerate(sessions):
            began = time.perf_counter()
            session.run(None, cast(session, feed))
            best[k] = min(best[k], time.perf_counter() - began)
    return [t / best[0] for t in best[1:]]


def cast(session, feed):
    """Exports of networks in half precision take float32."""
    wanted = {i.name: i.type for i in session.get_inputs()}
    return {name: x.astype(np.float32) if wanted[name] == 'tensor(float)' else x for name, x in feed.items()}


def save_samples(folder, samples):
    """A file for each: an archive where the network has several inputs."""
    os.mkdir(folder)
    for i, feed in enumerate(samples):
        if len(feed) > 1:
            np.savez(os.path.join(folder, f'{i:03}.npz'), **feed)
        else:
            np.save(os.path.join(folder, f'{i:03}.npy'), *feed.values())


def quantize(cli, model, out, data, feed, options):
    """Seconds; None with the message if the network cannot be quantized so."""
    shapes = [w for name, x in feed.items() if x.ndim for w in ('--shape', f'{name}=' + 'x'.join(map(str, x.shape)))]
    began = time.time()
    run = subprocess.run([cli, 'quantize', model, '-o', out, '--preset', 'cpu', '--data', data, *shapes, *options],
                         capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip().split('\n')[-1]
    onnx.checker.check_model(onnx.load(out), full_check=True)
    return time.time() - began, None


def measure(cli, folder, stem, forms):
    """A list of (dB, time beside float, bytes, seconds, gain beside plain) by form; and why there is none."""
    model = os.path.join(folder, 'models', stem + '.onnx')
    session = open_session(model)
    source = Source(folder, stem, session)
    samples = source.make(min(CALIBRATION + TESTS, source.most))
    tests = samples[CALIBRATION:]
    wanted = [session.run(None, x) for x in tests]
    figures, sessions, plain = [], [session], None
    with tempfile.TemporaryDirectory() as work:
        data = os.path.join(work, 'data')
        save_samples(data, samples[:CALIBRATION])
        for i, (_, options) in enumerate(forms):
            out = os.path.join(work, f'{i}.onnx')
            seconds, why = quantize(cli, model, out, data, tests[0], options)
            if seconds is None:
                return None, why
            sessions.append(open_session(out))
            found = [sessions[-1].run(None, cast(sessions[-1], x)) for x in tests]
            plain = plain or found
            figures.append([mean_sqnr(wanted[:IN_TABLE], found[:IN_TABLE]), 0, os.path.getsize(out), seconds,
                            find_gain(wanted, plain, found)])
        for figure, ratio in zip(figures, measure_times(sessions, tests[0])):
            figure[1] = ratio
    return figures, None


def list_float_models(folder):
    """Those that nobody has quantized yet."""
    names = []
    for path in sorted(os.listdir(os.path.join(folder, 'models'))):
        if path.endswith('.onnx') and not path.startswith('ml_'):
            graph = onnx.load(os.path.join(folder, 'models', path)).graph
            if not any('Quantize' in n.op_type or n.op_type.startswith('QLinear') for n in graph.node):
                names.append(path[:-5])
    return names


def make_table(rows, forms):
    lines = ['| network | ' + ' | '.join(f'{form}: dB | time | MB' for form, _ in forms) + ' | seconds |',
             '|---' * (2 + 3 * len(forms)) + '|']
    for stem, figures in rows:
        cells = ' | '.join(f'{db:.1f} | {ratio:.2f} | {size / 1e6:.2f}' for db, ratio, size, *_ in figures)
        lines.append(f'| {stem} | {cells} | ' + ', '.join(f'{f[3]:.0f}' for f in figures[1:]) + ' |')
    return '\n'.join(lines)


def write_table(page, table):
    text = open(page, encoding='utf-8').read()
    before, rest = text.split(BEGIN)
    open(page, 'w', encoding='utf-8').write(before + BEGIN + '\n' + table + '\n' + END + rest.split(END)[1])


def take_switch(arguments, name):
    if name not in arguments:
        return False
    arguments.remove(name)
    return True


def main():
    cli, arguments = sys.argv[1], sys.argv[2:]
    folder = oracle.shared_folder()
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    take_switch(arguments, '--write')
    seconds = arguments.pop(arguments.index('--time') + 1) if '--time' in arguments else None
    if take_switch(arguments, '--time'):
        for _, options in FORMS[1:]:
            options += ['--time', seconds]
    forms = FORMS[:2] if take_switch(arguments, '--first-only') else FORMS
    names = list_float_models(folder) if take_switch(arguments, '--all') else arguments or MODELS
    rows, faults = [], 0
    for stem in names:
        figures, why = measure(cli, folder, stem, forms)
        if figures is None:
            print(f'{stem:34} not quantized: {why}', flush=True)
            continue
        rows.append((stem, figures))
        for (form, _), (db, ratio, size, seconds, (gain, error)) in zip(forms, figures):
            below = gain + 2 * error < 0
            faults += below
            print(f'{stem:34} {form:18} {db:6.2f} dB  time x{ratio:.2f} of float  {size / 1e6:6.2f} MB  {seconds:5.1f} s'
                  + (f'  {gain:+.1f} ± {error:.1f} dB a sample' if form != forms[0][0] else '')
                  + ('  BELOW PLAIN' if below else ''), flush=True)
    table = make_table(rows, forms)
    print(table)
    if page:
        write_table(page, table)
    sys.exit(bool(faults) or not rows)


if __name__ == '__main__':
    main()
