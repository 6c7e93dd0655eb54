#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""transformers_table.py VERNIER_CLI [--write PAGE] [--blocks] [MODEL...]: transformers beside onnxruntime.quantization, judged by
onnxruntime on held-out samples: at 8 bit, static and dynamic, and with --blocks MatMulNBits, by rounding to nearest, the
peer's k_quant (which needs the package onnx_ir), and second-order rounding. For each export the mean signal to noise of the
outputs, the time of one sample beside the float network (one thread, best of many in turns), and its size. Prints the table for
the documentation, and writes it there.

Both quantizers get the same samples and the same network, prepared by `vernier-cli prepare`; the peer's figure at 8 bit is the
better one of a scale per tensor and per channel. Gemm stays in float with --blocks, as the peer has it. Fails where --auto is not
3 dB above the peer's static export, dynamic is below the peer's by more than chance, or second-order rounding below k_quant;
tells where --auto is slower."""
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

MODELS = ['vit_cct2_32_op20', 'txt_bert_toy_op12_unsorted', 'txt_tashkeel_transformer_fp32', 'txt_gpt2_tiny_fp32']
CALIBRATION, TESTS = 24, 48
LEAST_GAIN_DB, CHANCE_DB, MOST_TIME = 3.0, 1.5, 1.1
EIGHT = ['peer static', 'plain', '--auto', '--accuracy-first', 'peer dynamic', 'dynamic', 'dynamic --auto']
OPTIONS = {'plain': ['--preset', 'cpu'], '--auto': ['--preset', 'cpu', '--auto'],
           '--accuracy-first': ['--preset', 'cpu', '--auto', '--accuracy-first'],
           'dynamic': ['--preset', 'dynamic'], 'dynamic --auto': ['--preset', 'dynamic', '--auto']}
BLOCKS = [f'{how}, {bits} bit' for bits in (4, 8) for how in ('peer nearest', 'peer k_quant', 'nearest', 'second order')
          if (how, bits) != ('peer k_quant', 8)]    # which has 4 bits whatever it is told
MARKS = {False: ('<!-- transformers: made by tests/oracle/transformers_table.py --write -->', '<!-- transformers end -->'),
         True: ('<!-- blocks: made by tests/oracle/transformers_table.py --blocks --write -->', '<!-- blocks end -->')}
BLOCK = 32


class Network:
    def __init__(self, cli, shared, stem, work):
        self.cli, self.stem, self.work = cli, stem, work
        original = os.path.join(shared, 'models', stem + '.onnx')
        source = Source(shared, stem, open_session(original))
        samples = source.make(min(CALIBRATION + TESTS, source.most))
        self.calibration, self.tests = samples[:CALIBRATION], samples[CALIBRATION:]
        self.sizes = [w for name, x in samples[0].items() if x.ndim
                      for w in ('--shape', f'{name}=' + 'x'.join(map(str, x.shape)))]
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
                    peer_static(self.prepared, out, self.calibration, 'minmax', 'qdq', per_channel,
                                os.path.join(self.work, 'cache'))
                db = self.judge(out)[0]
            except Exception as e:    # noqa: BLE001: whatever it is, there is no file
                print(f'{self.stem}: the peer fails: {str(e).strip()[:200]}')
                continue
            best = max(best or (db, out), (db, out))
        return best[1] if best else None

    def peer_blocks(self, k_quant, bits):
        from onnxruntime.quantization import matmul_nbits_quantizer as nbits

        out = os.path.join(self.work, f'peer-{k_quant}-{bits}.onnx')
        try:
            config = nbits.KQuantWeightOnlyQuantConfig() if k_quant else None
            quantizer = nbits.MatMulNBitsQuantizer(onnx.load(self.prepared), bits=bits, block_size=BLOCK, is_symmetric=False,
                                                   algo_config=config)
            quantizer.process()
            quantizer.model.save_model_to_file(out)
        except Exception as e:    # noqa: BLE001: whatever it is, there is no file
            print(f'{self.stem}: the peer fails: {str(e).strip()[:200]}')
            return None
        return out

    def make(self, form):
        bits = form.split(', ')[1].split(' ')[0] if form in BLOCKS else None
        if form.startswith('peer'):
            return self.peer_blocks('k_quant' in form, int(bits)) if bits else self.peer(form.endswith('dynamic'))
        out = os.path.join(self.work, form.replace(' ', '') + '.onnx')
        options = OPTIONS[form] if not bits else ['--preset', 'w4-matmul', '--weight', f'uint{bits}', '--block-size', BLOCK,
                                                  '--symmetric-weights=false', '--exclude', 'type:Gemm', '--rounding',
                                                  'second-order' if 'second' in form else 'nearest']
        run(self.cli, 'quantize', self.prepared, '-o', out, '--data', self.data, *self.sizes, *options)
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
    theirs, ours = figures.get('peer dynamic'), figures.get('dynamic --auto')
    if theirs and ours and ours[0] < theirs[0] - CHANCE_DB:
        faults.append(f'dynamic is {ours[0] - theirs[0]:+.1f} dB beside the peer')
    for bits in (4, 8):
        theirs = figures.get(f'peer k_quant, {bits} bit') or figures.get(f'peer nearest, {bits} bit')
        ours = figures.get(f'second order, {bits} bit')
        if theirs and ours and ours[0] < theirs[0] - CHANCE_DB:
            faults.append(f'second-order rounding at {bits} bit is {ours[0] - theirs[0]:+.1f} dB beside the peer')
    return faults


def make_table(rows, forms, blocks):
    """Times of kernels in blocks are alike: their sizes and errors alone tell something."""
    lines = ['| network | ' + ' | '.join(f'{form}: dB | MB' if blocks else f'{form}: dB | time | MB' for form in forms) + ' |',
             '|---' * (1 + (2 if blocks else 3) * len(forms)) + '|']
    for stem, figures in rows:
        cells = []
        for form in forms:
            db, ratio, size = figures.get(form, (None, None, None))
            texts = ['–', '–', '–'] if db is None else [f'{db:.1f}', f'{ratio:.2f}', f'{size / 1e6:.2f}']
            cells += [texts[0], texts[2]] if blocks else texts
        lines.append(f'| {stem} | ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)


def write_table(page, table, marks):
    text = open(page, encoding='utf-8').read()
    before, rest = text.split(marks[0])
    open(page, 'w', encoding='utf-8').write(before + marks[0] + '\n' + table + '\n' + marks[1] + rest.split(marks[1])[1])


def main():
    logging.disable(logging.WARNING)
    warnings.simplefilter('ignore')
    cli, arguments = sys.argv[1], sys.argv[2:]
    shared = oracle.shared_folder()
    page = arguments.pop(arguments.index('--write') + 1) if '--write' in arguments else None
    take_switch(arguments, '--write')
    blocks = take_switch(arguments, '--blocks')
    forms = BLOCKS if blocks else EIGHT
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
        if '--auto' in figures and 'peer static' in figures and figures['--auto'][1] > MOST_TIME * figures['peer static'][1]:
            print(f"    --auto takes {figures['--auto'][1] / figures['peer static'][1]:.2f} times as long as the peer's")
    table = make_table(rows, forms, blocks)
    print(table)
    if page:
        write_table(page, table, MARKS[blocks])
    sys.exit(bool(n_faults) or not rows)


if __name__ == '__main__':
    main()
