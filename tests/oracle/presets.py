#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""presets.py CLI [--write PAGE] [--preset NAME]... [MODEL...]: every preset, or those named, on real networks.

Each export passes onnx.checker, runs in stock onnxruntime, and our own run of it agrees with that to 40 dB on the median
sample, or as well as onnxruntime's optimised run does. Samples of networks that see are photographs; the error is that of
onnxruntime's float outputs, on photographs that were not calibrated on. With --write the table of sizes and errors in
data/help/vernier-presets.md is made anew; what was not measured stays.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
from end_to_end import ITSELF_DB, session
from number_types import AGREEMENT_DB, median_db, run_ours

MODELS = ['det_ultraface_rfb320', 'cls_mobilenetv2_035_128_flowers', 'txt_tashkeel_transformer_fp32']
CALIBRATION, HELD_OUT, TOKENS = 12, 3, 16    # the smallest table of tokens has 16 rows
BEGIN, END = '<!-- presets: made by tests/oracle/presets.py --write -->', '<!-- presets end -->'


def list_presets(cli):
    done = subprocess.run([cli, 'list', 'presets', '--json'], capture_output=True, text=True, check=True)
    return [preset['id'] for preset in json.loads(done.stdout)['presets']]


def make_samples(shared, path, stem):
    """Dicts by input, all of the same sizes: those to calibrate on, and those to measure with."""
    import numpy as np

    random = np.random.default_rng(1)
    photographs = oracle.photographs(shared)
    samples = []
    for n in range(CALIBRATION + HELD_OUT):
        feeds = {}
        for i in session(path).get_inputs():
            shape = oracle.input_shape(stem, i.shape, name=i.name)
            if 'int' in i.type:
                low, high = (1, 2) if 'mask' in i.name else (0, TOKENS)    # nothing is left out
                feeds[i.name] = random.integers(low, high, shape).astype(np.int64 if '64' in i.type else np.int32)
            elif stem in oracle.PREPROCESSING:
                feeds[i.name] = oracle.image_input(stem, photographs[n], shape)
            else:
                feeds[i.name] = random.normal(0, 0.5, shape).astype(np.float32)
        samples.append(feeds)
    return samples[:CALIBRATION], samples[CALIBRATION:]


def save(samples, folder):
    """One folder per input if there are several."""
    import numpy as np

    names = list(samples[0])
    data = os.path.join(folder, 'data')
    for name in names:
        place = os.path.join(data, re.sub('[/:]', '_', name)) if len(names) > 1 else data
        os.makedirs(place)
        for n, feeds in enumerate(samples):
            np.save(os.path.join(place, '%03d.npy' % n), feeds[name])
    return data


class Refused(Exception):
    """A format for matrices, and a network without any."""


def has_matrices(path):
    import onnx

    return any(n.op_type in ('MatMul', 'Gemm') for n in onnx.load(path, load_external_data=False).graph.node)


def examine(cli, path, preset, data, held, sizes, folder):
    """Size, dB against float, dB between onnxruntime and us; and whether the last is enough."""
    import onnx

    out = os.path.join(folder, 'out.onnx')
    command = [cli, 'quantize', path, '-o', out, '--preset', preset, '--data', data, '--held-out', '0', '--skip-compare', *sizes]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 1 and 'can store' in done.stderr and not has_matrices(path) and not os.path.exists(out):
        raise Refused
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[:300])
    onnx.checker.check_model(out, full_check=True)
    written, optimised, plain = session(out, as_written=True), session(out), session(path, as_written=True)
    names = [o.name for o in written.get_outputs()]
    expected = [written.run(None, feeds) for feeds in held]
    ours = [run_ours(cli, out, feeds, names, folder) for feeds in held]
    agreement = median_db(expected, ours)
    itself = median_db(expected, [optimised.run(None, feeds) for feeds in held])
    error = median_db([plain.run(None, feeds) for feeds in held], expected)
    good = agreement >= AGREEMENT_DB or agreement >= itself - ITSELF_DB
    return os.path.getsize(out), error, agreement, good


def read_table(readme, stems):
    """What the table says now, by preset and network."""
    text, cells = open(readme, encoding='utf-8').read(), {}
    for line in text[text.index(BEGIN):text.index(END)].splitlines():
        parts = [p.strip() for p in line.strip('|').split('|')]
        if parts[0].startswith('`') and len(parts) == len(stems) + 1:
            cells.update({(parts[0].strip('`'), stem): cell for stem, cell in zip(stems, parts[1:])})
    return cells


def write_table(readme, presets, stems, sizes, cells):
    lines = ['| preset | ' + ' | '.join(f'{s}, {sizes[s] / 1e6:.2f} MB' for s in stems) + ' |',
             '|---|' + '---|' * len(stems)]
    for preset in presets:
        lines.append(f'| `{preset}` | ' + ' | '.join(cells.get((preset, s), '–') for s in stems) + ' |')
    text = open(readme, encoding='utf-8').read()
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    with open(readme, 'w', encoding='utf-8') as f:
        f.write(text[:before] + '\n' + '\n'.join(lines) + '\n' + text[after:])


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    arguments = sys.argv[1:]
    readme = None
    if '--write' in arguments:
        at = arguments.index('--write')
        readme = arguments[at + 1]
        del arguments[at:at + 2]
    chosen = []
    while '--preset' in arguments:
        at = arguments.index('--preset')
        chosen.append(arguments[at + 1])
        del arguments[at:at + 2]
    cli, stems = arguments[0], arguments[1:] or MODELS
    presets = list_presets(cli)
    done = wrong = 0
    weights, cells = {}, read_table(readme, stems) if readme is not None and stems == MODELS else {}
    for stem in stems:
        path = os.path.join(shared, 'models', stem + '.onnx')
        weights[stem] = os.path.getsize(path)
        calibration, held = make_samples(shared, path, stem)
        sizes = [f'--shape={name}=' + 'x'.join(str(d) for d in x.shape) for name, x in held[0].items() if x.ndim > 0]
        for preset in chosen or presets:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    size, error, agreement, good = examine(cli, path, preset, save(calibration, folder), held, sizes, folder)
                    text = f'{size} bytes, {error:.1f} dB; our run agrees to {agreement:.1f} dB'
                    cells[preset, stem] = f'{size / 1e6:.2f} MB, {error:.1f} dB'
                except Refused:
                    good, text = True, 'refused, as it has no matrices'
                    cells[preset, stem] = '–'
                except Exception as e:
                    good, text = False, str(e).strip()[:300]
            done += 1
            wrong += not good
            print(f'{stem:34} {preset:16} {"" if good else "WRONG: "}{text}', flush=True)
    print(f'{done} exports, {wrong} wrong')
    if readme is not None and wrong == 0:
        write_table(readme, presets, stems, weights, cells)
    sys.exit(0 if done > 0 and wrong == 0 else 1)


if __name__ == '__main__':
    main()
