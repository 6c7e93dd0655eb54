#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""transformers_table.py VERNIER_CLI [--write PAGE] [MODEL...]: transformers at 8 bit, beside onnxruntime.quantization: static and dynamic,
judged by onnxruntime on samples that were not calibrated with. For each export the mean signal to noise of the outputs, the time of one
sample beside the float network (one thread, best of many in turns), and its size. Prints the table for the documentation, and
writes it there.

Both quantizers get the same samples and the same network, prepared by `vernier-cli prepare`; the peer's static figure is the better one of
a scale per tensor and per channel. Fails where --auto is not 3 dB above the peer's static export at the same time, or dynamic below the peer's."""
import logging
import os
import sys
import tempfile
import warnings

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
from auto_table import mean_sqnr, open_session, save_samples, take_switch    # noqa: E402
from auto_table import measure_times    # noqa: E402
from quantize_table import peer_dynamic, peer_static, run    # noqa: E402
from samples import Source    # noqa: E402

MODELS = ['vit_cct2_32_op20', 'txt_bert_toy_op12_unsorted', 'txt_tashkeel_transformer_fp32', 'txt_gpt2_tiny_fp32', 'graph_tfbert_qa_3836nodes']
CALIBRATION, TESTS = 24, 48
LEAST_GAIN_DB, CHANCE_DB, MOST_TIME = 3.0, 0.5, 1.1
FORMS = ['peer static', 'plain', '--auto', '--accuracy-first', 'peer dynamic', 'dynamic', 'dynamic --auto']
OPTIONS = {'plain': ['--preset', 'cpu'], '--auto': ['--preset', 'cpu', '--auto'], '--accuracy-first': ['--preset', 'cpu', '--auto', '--accuracy-first'],
           'dynamic': ['--preset', 'cpu-dynamic'], 'dynamic --auto': ['--preset', 'cpu-dynamic', '--auto']}
BEGIN, END = '<!-- transformers: made by tests/oracle/transformers_table.py --write -->', '<!-- transformers end -->'


class Network:
    def __init__(self, cli, shared, stem, work):
        self.cli, self.stem, self.work = cli, stem, work
        original = os.path.join(shared, 'models', stem + '.onnx')
        source = Source(shared, stem, open_session(original))
        samples = source.make(min(CALIBRATION + TESTS, source.most))
        self.calibration, self.tests = samples[:CALIBRATION], samples[CALIBRATION:]
        self.sizes = [w for name, x in samples[0].items() if x.ndim for w in ('--shape', f'{name}=' + 'x'.join(map(str, x.shape)))]
        self.prepared, self.data = os.path.join(work, 'prepared.onnx'), os.path.join(work, 'data')
        opset = next(o.version for o in onnx.load(original).opset_import if o.domain in ('', 'ai.onnx'))
        run(cli, 'prepare', original, '-o', self.prepared, '--pass', 'fix-shapes', '--pass', 'copy-bias-init',
            *(['--opset', 13] if opset < 13 else []), *self.sizes)
        save_samples(self.data, self.calibration)
        self.float = open_session(original)
        self.wanted = [self.float.run(None, x) for x in self.tests]

    def judge(self, path):
        session = open_session(path)
        return mean_sqnr(self.wanted, [session.run(None, x) for x in self.tests]), session

    def peer(self, dynamic):
        """The better file; None if the peer raises an error."""
        best = None
        for per_channel in (False, True):
            out = os.path.join(self.work, f'peer-{dynamic}-{per_channel}.onnx')
            try:
                if dynamic:
                    peer_dynamic(self.prepared, out, per_channel)
                else:
                    peer_static(self.prepared, out, self.calibration, 'minmax', 'qdq', per_channel, os.path.join(self.work, 'cache'))
                db = self.judge(out)[0]
            except Exception as e:    # noqa: BLE001: whatever it is, there is no file
                print(f'{self.stem}: the peer fails: {str(e).strip()[:200]}')
                continue
            best = max(best or (db, out), (db, out))
        return best[1] if best else None

    def make(self, form):
        if form.startswith('peer'):
            return self.peer(form.endswith('dynamic'))
        out = os.path.join(self.work, form.replace(' ', '') + '.onnx')
        run(self.cli, 'quantize', self.prepared, '-o', out, '--data', self.data, *self.sizes, *OPTIONS[form])
        onnx.checker.check_model(onnx.load(out), full_check=True)
        return out

    def measure(self, forms):
        """By form: (dB, time beside float, bytes); without those that the peer fails at."""
        paths = {form: path for form in forms if (path := self.make(form))}
        judged = {form: self.judge(path) for form, path in paths.items()}
        times = measure_times([self.float] + [session for _, session in judged.values()], self.tests[0])
        return {form: (judged[form][0], ratio, os.path.getsize(paths[form])) for form, ratio in zip(paths, times)}


def find_faults(figures):
    faults = []
    theirs, ours = figures.get('peer static'), figures.get('--auto')
    if theirs and ours and ours[0] < theirs[0] + LEAST_GAIN_DB:
        faults.append(f'--auto is {ours[0] - theirs[0]:+.1f} dB beside the peer')
    if theirs and ours and ours[1] > theirs[1] * MOST_TIME:
        faults.append(f'--auto takes {ours[1] / theirs[1]:.2f} times as long as the peer\'s')
    theirs, ours = figures.get('peer dynamic'), figures.get('dynamic')
    if theirs and ours and ours[0] < theirs[0] - CHANCE_DB:
        faults.append(f'dynamic is {ours[0] - theirs[0]:+.1f} dB beside the peer')
    return faults


def make_table(rows, forms):
    lines = ['| network | ' + ' | '.join(f'{form}: dB | time | MB' for form in forms) + ' |', '|---' * (1 + 3 * len(forms)) + '|']
    for stem, figures in rows:
        cells = ' | '.join('%.1f | %.2f | %.2f' % (*figures[form][:2], figures[form][2] / 1e6) if form in figures else '– | – | –' for form in forms)
        lines.append(f'| {stem} | {cells} |')
    return '\n'.join(lines)


def write_table(page, table):
    text = open(page, encoding='utf-8').read()
    before, rest = text.split(BEGIN)
    open(page, 'w', encoding='utf-8').write(before + BEGIN + '\n' + table + '\n' + END + rest.split(END)[1])


def main():
    logging.disable(logging.WARNING)
    warnings.simplefilter('ignore')
    cli, arguments = sys.argv[1], sys.argv[2:]
    shared = oracle.shared_folder()
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    take_switch(arguments, '--write')
    forms = arguments.pop(arguments.index('--forms') + 1).split(',') if '--forms' in arguments else FORMS
    take_switch(arguments, '--forms')
    rows, n_faults = [], 0
    for stem in arguments or MODELS:
        with tempfile.TemporaryDirectory() as work:
            figures = Network(cli, shared, stem, work).measure(forms)
        faults = find_faults(figures)
        n_faults += len(faults)
        rows.append((stem, figures))
        for form, (db, ratio, size) in figures.items():
            print(f'{stem:34} {form:18} {db:6.2f} dB  time x{ratio:.2f} of float  {size / 1e6:6.2f} MB', flush=True)
        print(*('    ' + fault for fault in faults), sep='\n')
    table = make_table(rows, forms)
    print(table)
    if page:
        write_table(page, table)
    sys.exit(bool(n_faults) or not rows)


if __name__ == '__main__':
    main()
