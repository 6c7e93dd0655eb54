#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""number_types.py CLI [--only TEXT] [MODEL...]: every type in every format that has it, on the demo network and real ones.

The export passes onnx.checker and runs in stock onnxruntime, without custom libraries; our own run of the exported file
agrees with that to 40 dB on the median of the samples. What lies around a step of a coarse grid may fall on either side of
it after float sums in another order, and a small network then differs by whole steps: where onnxruntime agrees with itself,
optimised or not, no better than that, or where rounding itself does 15 dB more, less is asked. Samples are random: this is about
types, not accuracy.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
from end_to_end import ITSELF_DB, session, sqnr

SAMPLES, AGREEMENT_DB, ROUNDING_DB = 3, 40.0, 15.0
MODELS = ['det_ultraface_rfb320', 'mnist_cntk_op8', 'aud_dtln_1_lstm']
SYMMETRIC = ['--symmetric-activations']
EXTENDED = ['--format=extended']


def both(dtype, *more):
    return ['--activation=' + dtype, '--weight=' + dtype, *more]


CASES = {
    'qdq int16': both('int16', *SYMMETRIC), 'qdq uint16': both('uint16'), 'qdq int16 per channel': both('int16', '--per-channel'),
    'qdq a16w4': ['--activation=uint16', '--weight=int4'],
    'qoperator': ['--preset=qlinear'], 'qoperator per channel': ['--preset=qlinear', '--per-channel'],
    'qoperator dynamic': ['--preset=qlinear', '--dynamic=true'],
    'qoperator dynamic per channel': ['--preset=qlinear', '--dynamic=true', '--per-channel', '--weight=uint8'],
    'extended uint8': both('uint8', *EXTENDED), 'extended int8': both('int8', *EXTENDED),
    'extended int16': both('int16', *EXTENDED, *SYMMETRIC), 'extended int32': both('int32', *EXTENDED, *SYMMETRIC),
    'extended uint32': both('uint32', *EXTENDED), 'extended int32 asymmetric': both('int32', *EXTENDED, '--per-channel'),
    'qdq a16w4 in blocks': ['--activation=uint16', '--weight=uint4', '--block-size=16', '--symmetric-weights=false'],
    'qdq a8w4 in blocks': ['--activation=uint8', '--weight=int4', '--block-size=32'],
    'qdq a16w8 in blocks': ['--activation=int16', '--weight=int8', '--block-size=16'],
    'extended activations uint4': both('uint4', *EXTENDED), 'extended activations int4': both('int4', *EXTENDED, '--per-channel'),
    'extended activations int4 weights int8': ['--activation=int4', '--weight=int8', *EXTENDED],
    'extended float8 weights bfloat16': ['--activation=bfloat16', '--weight=float8e4m3fn', *EXTENDED],
    'extended float8 weights uint16': ['--activation=uint16', '--weight=float8e5m2', *EXTENDED, '--per-channel'],
    'weights float8e4m3fn': ['--format=weights', '--weight=float8e4m3fn', '--per-channel'],
    'weights float8e5m2': ['--format=weights', '--weight=float8e5m2'],
    'narrow range': ['--preset=cpu', '--narrow-range'], 'narrow range in float': ['--preset=cpu', '--narrow-range',
                                                                                  '--pairs-on-weights'],
    'extended uint4': ['--activation=int16', '--weight=uint4', *EXTENDED],
    'extended float16': both('float16', *EXTENDED), 'extended bfloat16': both('bfloat16', *EXTENDED),
    'extended float8e4m3fn': both('float8e4m3fn', *EXTENDED), 'extended float8e5m2': both('float8e5m2', *EXTENDED,
                                                                                          '--per-channel'),
    'extended float8 weights': ['--activation=int8', '--weight=float8e4m3fn', *EXTENDED],
    **{'extended ' + t: both(t, *EXTENDED) for t in
       ['bfp16', 'mx4', 'mx6', 'mx9', 'mxint8', 'mxfp8e5m2', 'mxfp8e4m3', 'mxfp6e3m2', 'mxfp6e2m3', 'mxfp4']},
    'extended bfp16 with int8 weights': ['--activation=bfp16', '--weight=int8', *EXTENDED],
    'extended a16w8': ['--activation=int16', '--weight=int8', *EXTENDED, *SYMMETRIC],
    'bias int16': both('int8', '--bias=int16'), 'bias int8': both('int8', '--bias=int8'),
    'bias float16': both('int8', '--bias=float16'), 'bias bfloat16': both('int8', '--bias=bfloat16'),
    'bias float32': both('int8', '--bias=float32'),
    'fixneuron int8': ['--preset=fixneuron'], 'fixneuron int16': ['--preset=fixneuron', *both('int16')],
    'fixneuron asymmetric': both('int8', '--format=fixneuron'),
    'preset int16': ['--preset=int16'], 'preset bf16': ['--preset=bf16'], 'preset bfp16': ['--preset=bfp16'],
    'preset mx9': ['--preset=mx9'], 'preset mx6': ['--preset=mx6'],
}


def quantize(cli, model, out, options, sizes):
    command = [cli, 'quantize', model, '-o', out, '--data=random', '--samples=4', '--held-out=0', '--skip-compare', '--json',
               *sizes, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError('vernier-cli: ' + (done.stdout + done.stderr).strip()[:300])
    return json.loads(done.stdout)


def make_samples(path, stem):
    import numpy as np

    random = np.random.default_rng(1)
    samples = []
    for _ in range(SAMPLES):
        feeds = {}
        for i in session(path).get_inputs():
            shape = oracle.input_shape(stem, i.shape, name=i.name)
            if 'int' in i.type:
                feeds[i.name] = random.integers(0, 30, shape).astype(np.int64 if '64' in i.type else np.int32)
            else:
                feeds[i.name] = random.normal(0, 0.5, shape).astype(np.float32)
        samples.append(feeds)
    return samples


def run_ours(cli, model, feeds, names, folder):
    import numpy as np

    command = [cli, 'run', model, '-o', folder + '/out']
    for i, (name, x) in enumerate(feeds.items()):
        np.save(f'{folder}/x{i}.npy', x)
        command += ['--input', f'{name}={folder}/x{i}.npy']
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError('vernier-cli run: ' + done.stderr.strip()[:300])
    return [np.load(f'{folder}/out/' + n.replace('/', '_').replace(':', '_') + '.npy') for n in names]


def median_db(a, b):
    """Of the samples: all float outputs of one together."""
    return statistics.median(sqnr([(x, y) for x, y in zip(one, other) if x.dtype.kind == 'f']) for one, other in zip(a, b))


def examine(cli, path, options, samples, sizes, folder):
    import onnx

    out = os.path.join(folder, 'out.onnx')
    quantize(cli, path, out, options, sizes)
    onnx.checker.check_model(out, full_check=True)
    written, optimised, plain = session(out, as_written=True), session(out), session(path, as_written=True)
    names = [o.name for o in written.get_outputs()]
    expected = [written.run(None, feeds) for feeds in samples]
    ours = [run_ours(cli, out, feeds, names, folder) for feeds in samples]
    faster = [optimised.run(None, feeds) for feeds in samples]
    reference = [plain.run(None, feeds) for feeds in samples]
    agreement, itself, error = median_db(expected, ours), median_db(expected, faster), median_db(reference, expected)
    good = agreement >= min(AGREEMENT_DB, max(error + ROUNDING_DB, 0)) or agreement >= itself - ITSELF_DB
    return good, agreement, itself, error, os.path.getsize(out)


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    arguments = sys.argv[1:]
    only = arguments.pop(arguments.index('--only') + 1) if '--only' in arguments else ''
    cli, stems = arguments[0], [a for a in arguments[1:] if not a.startswith('--')]
    paths = [os.path.join(os.path.dirname(__file__), '..', '..', 'data', 'demo', 'demo.onnx')] if not stems else []
    paths += [os.path.join(shared, 'models', s + '.onnx') for s in stems or MODELS]
    wrong = done = 0
    for path in paths:
        stem = os.path.splitext(os.path.basename(path))[0]
        samples = make_samples(path, stem)
        sizes = [f'--shape={name}=' + 'x'.join(str(d) for d in x.shape) for name, x in samples[0].items() if x.ndim > 0]
        print(f'{stem}, {os.path.getsize(path)} bytes')
        for label, options in CASES.items():
            if only not in label:
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    good, agreement, itself, error, size = examine(cli, path, options, samples, sizes, folder)
                except Exception as e:
                    good, text = False, str(e).strip()[:400]
                else:
                    text = (f'agrees to {agreement:.1f} dB, onnxruntime with itself to {itself:.1f}; {error:.1f} dB of float, '
                            f'{size} bytes')
            wrong += not good
            done += 1
            print(f'  {label:34} {"" if good else "WRONG: "}{text}', flush=True)
    print(f'{done} exports, {wrong} wrong')
    sys.exit(0 if done > 0 and wrong == 0 else 1)


if __name__ == '__main__':
    main()
