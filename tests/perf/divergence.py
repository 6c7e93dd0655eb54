#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""divergence.py VERNIER_CLI FOLDER [ROW...]: what small weights cost a language model, by method: KL divergence, bytes, seconds.

FOLDER is one that decoder.py has filled. Each row is an export with the options of ROWS; onnxruntime runs it and the float
network on the held-out texts, which nothing was made from. Printed are the mean KL divergence from the float network in nats, its
99 % quantile, the share of positions with the same first token, bytes of the file, and processor seconds of the export. Rows
called "as ..." are what others choose: the bits of onnxruntime's k_quant and of the model builder's int4 mixes. The mixed one has
8 bits where its k_quant_mixed does: for the products of values, and those at the end of gated networks, in the first and last
eighth of the layers and in every third between.
"""
import glob
import json
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402

LAYERS = 4
SEARCH = ['--block-method', 'k-quant']
SHARED = ['--preset', 'w4-mixed', '--wide-tables=false']
SECOND = ['--rounding', 'second-order']


def rule(nodes, **what):
    return ['--rule', json.dumps({'nodes': nodes, **what})]


def mixed():
    """Rules for the layers that the model builder's k_quant_mixed gives 8 bits."""
    chosen = [i for i in range(LAYERS) if i < LAYERS // 8 or i >= 7 * LAYERS // 8 or (i - LAYERS // 8) % 3 == 2]
    return [option for i in chosen for name in ('v_proj', 'down_proj')
            for option in rule('layers.%d/%s' % (i, name), weight='uint8')]


ROWS = {
    'w4-matmul': ['--preset', 'w4-matmul'],
    'w4-matmul, k-quant': ['--preset', 'w4-matmul', *SEARCH],
    'w4-matmul, second-order': ['--preset', 'w4-matmul', *SECOND],
    'w4-matmul, k-quant, second-order': ['--preset', 'w4-matmul', *SEARCH, *SECOND],
    'w4': ['--preset', 'w4'],
    'w8': ['--preset', 'w8'],
    'as int4, shared': SHARED,
    'as int4 k_quant, shared': [*SHARED, *SEARCH],
    'as int4 k_quant_last, shared': ['--preset', 'w4-mixed', *SEARCH],
    'as int4 k_quant_mixed, shared': ['--preset', 'w4-mixed', *SEARCH, *mixed()],
    'w4-mixed': ['--preset', 'w4-mixed'],
    'w4-mixed, second-order': ['--preset', 'w4-mixed', *SECOND],
    'w4-mixed, k-quant, second-order': ['--preset', 'w4-mixed', *SEARCH, *SECOND],
    'w4-mixed, blocks of 128': ['--preset', 'w4-mixed', '--block-size', '128'],
    'w4-mixed, 2 bit': ['--preset', 'w4-mixed', '--weight', 'uint2'],
    'w4-mixed, 2 bit, second-order': ['--preset', 'w4-mixed', '--weight', 'uint2', *SECOND],
}


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def log_probabilities(session, path):
    logits = session.run(['logits'], {'input_ids': np.load(path)})[0].astype(np.float64)
    logits -= logits.max(-1, keepdims=True)
    return (logits - np.log(np.exp(logits).sum(-1, keepdims=True))).reshape(-1, logits.shape[-1])


def divergences(wanted, session, texts):
    all_, same = [], []
    for p, path in zip(wanted, texts):
        q = log_probabilities(session, path)
        all_.append((np.exp(p) * (p - q)).sum(-1))
        same.append(p.argmax(-1) == q.argmax(-1))
    return np.concatenate(all_), np.concatenate(same)


def export(program, options, folder, out):
    """Processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    samples = ['--data', os.path.join(folder, 'calibration')] if '--rounding' in options or '--budget-size' in options else []
    run = subprocess.run([program, 'quantize', os.path.join(folder, 'decoder.onnx'), '-o', out, *samples, '--skip-compare',
                          '--no-verify', *options], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    program, folder, failed = sys.argv[1], sys.argv[2], 0
    texts = sorted(glob.glob(os.path.join(folder, 'held-out', '*.npy')))
    session = open_session(os.path.join(folder, 'decoder.onnx'))
    wanted = [log_probabilities(session, path) for path in texts]
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, 'small.onnx')
        for name in sys.argv[3:] or ROWS:
            try:
                seconds = export(program, ROWS[name], folder, out)
                onnx.checker.check_model(out)
                found, same = divergences(wanted, open_session(out), texts)
                print('%-36s KLD %.6f, 99 %% %.6f, same %.4f, %8d bytes, %6.2f s'
                      % (name, found.mean(), np.quantile(found, 0.99), same.mean(), os.path.getsize(out), seconds), flush=True)
            except Exception as error:
                failed += 1
                print('%-36s %s' % (name, error), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
