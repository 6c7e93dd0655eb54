#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""auto_table.py VERNIER_CLI [--write PAGE] [MODEL...]: what --auto, and --auto --accuracy-first, make of real networks, judged by
onnxruntime: mean signal to noise of the outputs on photographs that were not calibrated with, time of one sample beside the float
network (one thread, best of 20 in turns), size and how long it took. Prints the table for the documentation, and writes it there.

Fails where an export is invalid, or ends below the plain one by more than chance (1.5 dB with so few photographs)."""
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

MODELS = ['cls_mobilenetv2_035_128_flowers', 'sr_espcn_bsd300_rgb', 'seg_sinet_portrait_320', 'det_ultraface_rfb320', 'det_nanodet_m_320',
          'det_picodet_xs_416_op10', 'det_yolox_nano_416', 'cls_squeezenet10_fp32_from_fp16', 'det_openseeface_mnv3']
FORMS = [('plain', []), ('--auto', ['--auto']), ('--accuracy-first', ['--auto', '--accuracy-first'])]
CALIBRATION, TURNS, CHANCE_DB = 24, 20, 1.5
BEGIN, END = '<!-- auto: made by tests/oracle/auto_table.py --write -->', '<!-- auto end -->'


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def mean_sqnr(wanted, found):
    """Of each output over all samples; the mean over the outputs."""
    figures = []
    for k in range(len(wanted[0])):
        signal = sum((a[k].astype(np.float64) ** 2).sum() for a in wanted)
        noise = sum(((a[k].astype(np.float64) - b[k]) ** 2).sum() for a, b in zip(wanted, found))
        figures.append(10 * np.log10(signal / max(noise, 1e-30)))
    return float(np.mean(figures))


def measure_times(sessions, feed):
    best = [np.inf] * len(sessions)
    for _ in range(TURNS):
        for k, session in enumerate(sessions):
            began = time.perf_counter()
            session.run(None, feed)
            best[k] = min(best[k], time.perf_counter() - began)
    return [t / best[0] for t in best[1:]]


def measure(cli, folder, stem):
    """A list of (dB, time beside float, bytes, seconds) by form."""
    model = os.path.join(folder, 'models', stem + '.onnx')
    session = open_session(model)
    value = session.get_inputs()[0]
    shape = oracle.input_shape(stem, value.shape, name=value.name)
    samples = [oracle.image_input(stem, path, shape) for path in oracle.photographs(folder)]
    tests = samples[CALIBRATION:]
    wanted = [session.run(None, {value.name: x}) for x in tests]
    figures, sessions = [], [session]
    with tempfile.TemporaryDirectory() as work:
        data = os.path.join(work, 'data')
        os.mkdir(data)
        for i, x in enumerate(samples[:CALIBRATION]):
            np.save(os.path.join(data, f'{i:03}.npy'), x)
        for i, (_, options) in enumerate(FORMS):
            out = os.path.join(work, f'{i}.onnx')
            began = time.time()
            subprocess.run([cli, 'quantize', model, '-o', out, '--preset', 'cpu', '--data', data, *options], check=True, capture_output=True)
            seconds = time.time() - began
            onnx.checker.check_model(onnx.load(out), full_check=True)
            sessions.append(open_session(out))
            found = [sessions[-1].run(None, {value.name: x}) for x in tests]
            figures.append([mean_sqnr(wanted, found), 0, os.path.getsize(out), seconds])
        for figure, ratio in zip(figures, measure_times(sessions, {value.name: tests[0]})):
            figure[1] = ratio
    return figures


def make_table(rows):
    lines = ['| network | ' + ' | '.join(f'{form}: dB | time | MB' for form, _ in FORMS) + ' | seconds |',
             '|---' * (2 + 3 * len(FORMS)) + '|']
    for stem, figures in rows:
        cells = ' | '.join(f'{db:.1f} | {ratio:.2f} | {size / 1e6:.2f}' for db, ratio, size, _ in figures)
        lines.append(f'| {stem} | {cells} | ' + ', '.join(f'{f[3]:.0f}' for f in figures[1:]) + ' |')
    return '\n'.join(lines)


def write_table(page, table):
    text = open(page, encoding='utf-8').read()
    before, rest = text.split(BEGIN)
    open(page, 'w', encoding='utf-8').write(before + BEGIN + '\n' + table + '\n' + END + rest.split(END)[1])


def main():
    cli, arguments = sys.argv[1], sys.argv[2:]
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    names = [a for a in arguments if a != '--write'] or MODELS
    folder = oracle.shared_folder()
    rows, faults = [], 0
    for stem in names:
        figures = measure(cli, folder, stem)
        rows.append((stem, figures))
        for (form, _), (db, ratio, size, seconds) in zip(FORMS, figures):
            below = db < figures[0][0] - CHANCE_DB
            faults += below
            print(f'{stem:34} {form:18} {db:6.2f} dB  time x{ratio:.2f} of float  {size / 1e6:6.2f} MB  {seconds:5.1f} s'
                  + ('  BELOW PLAIN' if below else ''), flush=True)
    table = make_table(rows)
    print(table)
    if page:
        write_table(page, table)
    sys.exit(bool(faults) or not rows)


if __name__ == '__main__':
    main()
