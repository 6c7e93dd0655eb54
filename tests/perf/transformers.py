#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""transformers.py ENGINE_RUN [NAME...]

Transformers and recurrent networks beside onnxruntime, measured as forward.py does. Below the times of each network,
what it comes to: latency (one sample after the other) and throughput, each in whichever way is fastest here and there.
"""
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import forward
import oracle

# goal of the ratio, and the modes it may be reached in
GOALS = {'latency': (0.8, ('one', 'both')), 'throughput': (1.0, ('one', 'both', 'samples'))}
REAL = ('graph_tfbert_qa_3836nodes', 'txt_gpt2_tiny_fp32', 'txt_bert_toy_op12_unsorted', 'txt_tashkeel_transformer_fp32',
        'vit_cct2_32_op20', 'aud_dtln_1_lstm', 'aud_gtcrn_stream_gru')


def judge(name, best):
    for what, (goal, modes) in GOALS.items():
        ours, theirs = (1000 / min(best[mode][i] for mode in modes) for i in (0, 1))
        print('%-32s  %-10s %9.2f runs/s, onnxruntime %9.2f, ratio %.2f, goal %.1f %s'
              % (name, what, ours, theirs, ours / theirs, goal, 'met' if ours >= goal * theirs else 'MISSED'), flush=True)


def networks(work):
    """Name, file and function to make the inputs of each network."""
    import networks as real
    import numpy as np
    path = os.path.join(work, 'bert.onnx')
    yield 'bert-base-shaped', path, lambda session: {'input_ids': np.arange(128, dtype=np.int64)[None] * 7}
    shared = os.environ.get('VN_SHARED', '')
    for name in REAL:
        path = os.path.join(shared, 'models', name + '.onnx')
        if os.path.exists(path):
            yield name, path, lambda session: real.make_inputs(name, session, oracle.photographs(shared)[0], 1)


def main():
    oracle.use_oracle_python()
    import generate
    program, names = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as work:
        for name, path, make_inputs in networks(work):
            if names and name not in names:
                continue
            if path.startswith(work):
                generate.bert(path)
            judge(name, forward.measure(program, name, path, make_inputs, work))


if __name__ == '__main__':
    main()
