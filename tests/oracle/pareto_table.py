#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pareto_table.py VERNIER_CLI [--write PAGE] [MODEL...]: how well the curve of mixed precision is predicted on real networks: the
points that are measured after they were predicted, and what the curve takes. Prints the table for the documentation, and writes
it there.

Fails where a prediction is off by more than 0.5 dB, where a network cannot be quantized, or where a measured point is not what
onnxruntime computes, judged at the most accurate point within a tenth of the multiplications in float."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
from auto_table import mean_sqnr, open_session, save_samples, cast    # noqa: E402
from samples import Source    # noqa: E402

MODELS = ['cls_mobilenetv2_035_128_flowers', 'sr_espcn_bsd300_rgb', 'det_ultraface_rfb320', 'det_nanodet_m_320',
          'det_yunet_n_dynamic',
          'kws_micro_fp32', 'mnist_rten_op18', 'cls_squeezenet10_fp32_from_fp16']
SAMPLES, GOOD_DB = 32, 0.5
BEGIN, END = '<!-- pareto: made by tests/oracle/pareto_table.py --write -->', '<!-- pareto end -->'


def run_cli(cli, model, out, data, feed, options):
    shapes = [w for name, x in feed.items() if x.ndim for w in ('--shape', f'{name}=' + 'x'.join(map(str, x.shape)))]
    began = os.times()
    run = subprocess.run([cli, 'quantize', model, '-o', out, '--preset', 'cpu', '--data', data, '--json', *shapes, *options],
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(f'{model}: {run.stderr.strip()}')
    ended = os.times()
    seconds = ended.children_user + ended.children_system - began.children_user - began.children_system
    return json.loads(run.stdout)['report'], seconds


def measure(cli, folder, stem):
    """(points, the curve's checks as (predicted, measured), seconds of a processor, dB of the point that is taken by us and by
    onnxruntime)"""
    model = os.path.join(folder, 'models', stem + '.onnx')
    session = open_session(model)
    source = Source(folder, stem, session)
    samples = source.make(min(SAMPLES, source.most))
    with tempfile.TemporaryDirectory() as work:
        data, out = os.path.join(work, 'data'), os.path.join(work, 'out.onnx')
        save_samples(data, samples)
        report, seconds = run_cli(cli, model, out, data, samples[0], ['--curve', '--budget-float', '10%'])
        chosen = [p for p in report['curve'] if p['state'] == 'chosen']
        exported = open_session(out)
        theirs = mean_sqnr([session.run(None, x) for x in samples], [exported.run(None, cast(exported, x)) for x in samples])
    checks = [(p['predicted_sqnr_db'], p['measured_sqnr_db']) for p in report['curve'] if p['state'] == 'check']
    return report['curve'], checks, seconds, chosen[0]['measured_sqnr_db'], theirs


def main():
    cli, arguments = sys.argv[1], sys.argv[2:]
    folder = oracle.shared_folder()
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    if page:
        arguments.remove('--write')
    lines = ['| network | points | from, dB | to, dB | measured to correct | checked | off by at most, dB | processor seconds '
             '| with 10 % in float: dB | in ONNX Runtime |',
             '|---' * 10 + '|']
    faults = 0
    for stem in arguments or MODELS:
        points, checks, seconds, ours, theirs = measure(cli, folder, stem)
        finite = [p['predicted_sqnr_db'] for p in points if p['predicted_sqnr_db'] < 150]
        corrects = sum(p['state'] in ('corrects', 'recipe') and p['measured_sqnr_db'] is not None for p in points)
        worst = max((abs(a - b) for a, b in checks), default=float('nan'))
        faults += not worst <= GOOD_DB
        lines.append(f'| {stem} | {len(points)} | {min(finite):.1f} | {max(finite):.1f} | {corrects} | {len(checks)} '
                     f'| {worst:.2f} | {seconds:.0f} | {ours:.1f} | {theirs:.1f} |')
        print(lines[-1], flush=True)
    if page:
        text = open(page, encoding='utf-8').read()
        before, rest = text.split(BEGIN)
        open(page, 'w', encoding='utf-8').write(before + BEGIN + '\n' + '\n'.join(lines) + '\n' + END + rest.split(END)[1])
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
