#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""divergence.py VERNIER_CLI FOLDER [--builder] [ROW...]: what small weights cost a language model, by method: KL divergence,
bytes, seconds.

FOLDER is one that decoder.py has filled. Each row is an export with the options of ROWS; onnxruntime runs it and the float
network on the held-out texts, which nothing was made from. Printed are the mean KL divergence from the float network in nats, its
99 % quantile, the share of positions with the same first token, bytes of the file, and processor seconds of the export. Rows
called "as ..." are what others choose: the bits of onnxruntime's k_quant and of the model builder's int4 mixes. The mixed one has
8 bits where its k_quant_mixed does: for the products of values, and those at the end of gated networks, in the first and last
eighth of the layers and in every third between.

With --builder the network is FOLDER/builder/float, which builder.py has made of the same weights, with caches as runtimes of
language models want them; beside the rows are then the files that the model builder itself has quantized.
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

LAYERS, HEAD = 4, 32    # as decoder.py makes it: blocks, numbers of an attention head
SEARCH = ['--block-method', 'k-quant']
HQQ = ['--block-method', 'hqq']
FIT = ['--block-method', 'mse']
IMPORTANT = [*FIT, '--importance']
ENDS = ['--block-method', 'minmax']
SHARED = ['--preset', 'w4-mixed', '--wide-tables=false']
NONE = ['--wide-share', '0']
AWQ = ['--balance-channels', 'folded']
SECOND = ['--rounding', 'second-order']


def rule(nodes, **what):
    return ['--rule', json.dumps({'nodes': nodes, **what})]


def mixed():
    """Rules for the layers that the model builder's k_quant_mixed gives 8 bits."""
    chosen = [i for i in range(LAYERS) if i < LAYERS // 8 or i >= 7 * LAYERS // 8 or (i - LAYERS // 8) % 3 == 2]
    return [option for i in chosen for name in ('v_proj', 'down_proj')
            for option in rule('*layers.%d/*%s*' % (i, name), weight='uint8')]


ROWS = {
    'w4-matmul': ['--preset', 'w4-matmul'],
    'w4-matmul, k-quant': ['--preset', 'w4-matmul', *SEARCH],
    'w4-matmul, hqq': ['--preset', 'w4-matmul', *HQQ],
    'w4-matmul, mse': ['--preset', 'w4-matmul', *FIT],
    'w4-matmul, mse, importance': ['--preset', 'w4-matmul', *IMPORTANT],
    'w4-matmul, AWQ': ['--preset', 'w4-matmul', *AWQ],
    'w4-matmul, mse, AWQ': ['--preset', 'w4-matmul', *FIT, *AWQ],
    'w4-matmul, mse, AWQ, second-order': ['--preset', 'w4-matmul', *FIT, *AWQ, *SECOND],
    'w4-matmul, second-order': ['--preset', 'w4-matmul', *SECOND],
    'w4-matmul, mse, second-order': ['--preset', 'w4-matmul', *FIT, *SECOND],
    'w4-matmul, mse, importance, second-order': ['--preset', 'w4-matmul', *IMPORTANT, *SECOND],
    'w4-matmul, k-quant, second-order': ['--preset', 'w4-matmul', *SEARCH, *SECOND],
    'w4': ['--preset', 'w4'],
    'w8': ['--preset', 'w8'],
    'as int4, shared': [*SHARED, *ENDS],
    'as int4 k_quant, shared': [*SHARED, *SEARCH],
    'as int4 k_quant_last, shared': ['--preset', 'w4-mixed', *SEARCH],
    'as int4 k_quant_mixed, shared': ['--preset', 'w4-mixed', *SEARCH, *mixed()],
    'w4-mixed without samples': ['--preset', 'w4-mixed', *NONE],
    'w4-mixed': ['--preset', 'w4-mixed', '--wide-share', '0.25'],
    'w4-mixed, a tenth': ['--preset', 'w4-mixed', '--wide-share', '0.1'],
    'w4-mixed, minmax': ['--preset', 'w4-mixed', *ENDS],
    'w4-mixed, second-order': ['--preset', 'w4-mixed', *SECOND],
    'w4-mixed, second-order, 8 bits as k_quant_mixed': ['--preset', 'w4-mixed', *SECOND, *NONE, *mixed()],
    'w4-mixed, mse, importance, second-order': ['--preset', 'w4-mixed', *IMPORTANT, *SECOND],
    'w4-mixed, k-quant, second-order': ['--preset', 'w4-mixed', *SEARCH, *SECOND],
    'w4-mixed, blocks of 128': ['--preset', 'w4-mixed', '--block-size', '128'],
    'w4-mixed, 2 bit': ['--preset', 'w4-mixed', '--weight', 'uint2'],
    'w4-mixed, 2 bit, second-order': ['--preset', 'w4-mixed', '--weight', 'uint2', *SECOND],
}


def open_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def make_inputs(session, path):
    """Tokens from the beginning: caches are empty."""
    ids = np.load(path)
    values = {'input_ids': ids, 'attention_mask': np.ones_like(ids), 'position_ids': np.arange(ids.shape[1])[None]}
    for value in session.get_inputs():
        if value.name not in values:
            values[value.name] = np.zeros([ids.shape[0], value.shape[1], 0, HEAD], np.float32)
    return {value.name: values[value.name] for value in session.get_inputs()}


def log_probabilities(session, path):
    logits = session.run(['logits'], make_inputs(session, path))[0].astype(np.float64)
    logits -= logits.max(-1, keepdims=True)
    return (logits - np.log(np.exp(logits).sum(-1, keepdims=True))).reshape(-1, logits.shape[-1])


def divergences(wanted, session, texts):
    all_, same = [], []
    for p, path in zip(wanted, texts):
        q = log_probabilities(session, path)
        all_.append((np.exp(p) * (p - q)).sum(-1))
        same.append(p.argmax(-1) == q.argmax(-1))
    return np.concatenate(all_), np.concatenate(same)


def count_bytes(path):
    return sum(os.path.getsize(p) for p in (path, path + '.data') if os.path.exists(p))


def export(program, options, model, folder, out):
    """Processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    learns = {'--rounding', '--budget-size', '--importance', '--wide-share', '--balance-channels'} & {*options}
    samples = ['--data', os.path.join(folder, 'calibration')] if learns else []
    run = subprocess.run([program, 'quantize', model, '-o', out, *samples, '--skip-compare',
                          '--no-verify', *options], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(name, found, same, path, more=''):
    print('%-48s KLD %.6f, 99 %% %.6f, same %.4f, %8d bytes %s'
          % (name, found.mean(), np.quantile(found, 0.99), same.mean(), count_bytes(path), more), flush=True)


def main():
    rows, failed = [a for a in sys.argv[1:] if a != '--builder'], 0
    program, folder, rows = rows[0], rows[1], rows[2:] or ROWS
    texts = sorted(glob.glob(os.path.join(folder, 'held-out', '*.npy')))
    built = os.path.join(folder, 'builder')
    model = os.path.join(built, 'float', 'model.onnx') if '--builder' in sys.argv else os.path.join(folder, 'decoder.onnx')
    session = open_session(model)
    wanted = [log_probabilities(session, path) for path in texts]
    for peer in sorted(os.listdir(built)) if '--builder' in sys.argv else []:
        path = os.path.join(built, peer, 'model.onnx')
        if peer != 'float' and os.path.exists(path):
            show('builder, ' + peer, *divergences(wanted, open_session(path), texts), path)
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, 'small.onnx')
        for name in rows:
            try:
                for old in glob.glob(out + '*'):
                    os.unlink(old)
                seconds = export(program, ROWS[name], model, folder, out)
                if '--builder' not in sys.argv:    # the builder's own file does not pass: it has operators of no standard
                    onnx.checker.check_model(out)
                show(name, *divergences(wanted, open_session(out), texts), out, '%6.2f s' % seconds)
            except Exception as error:
                failed += 1
                print('%-48s %s' % (name, error), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
