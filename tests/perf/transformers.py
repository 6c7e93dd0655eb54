#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""transformers.py ENGINE_RUN [NAME...]

One sample after the other (latency) and two at a time (throughput) of transformers and recurrent networks, and the
ratio to onnxruntime with all its optimisations, in whichever way it is fastest on two processors, measured in turns
in the same run. Best of all rounds.
"""
import os
import sys
import tempfile
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), 'oracle')]
import forward
import oracle

ROUNDS = 3
SECONDS = 0.4    # of one measurement of onnxruntime
GOALS = {'latency': 0.8, 'throughput': 1.0}
REAL = ('graph_tfbert_qa_3836nodes', 'txt_gpt2_tiny_fp32', 'txt_bert_toy_op12_unsorted', 'txt_tashkeel_transformer_fp32',
        'vit_cct2_32_op20', 'aud_dtln_1_lstm', 'aud_gtcrn_stream_gru', 'aud_basic_pitch_nmp')


def runs_per_second(sessions, inputs):
    """The best of several spans of time in which every session runs in a thread of its own."""
    for session in sessions:
        session.run(None, inputs)
    start = time.perf_counter()
    sessions[0].run(None, inputs)
    n = max(1, int(SECONDS / 8 / max(time.perf_counter() - start, 1e-6)))

    def span(session):
        for _ in range(n):
            session.run(None, inputs)

    best = 0
    for _ in range(8):
        threads = [threading.Thread(target=span, args=(session,)) for session in sessions[1:]]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        span(sessions[0])
        for thread in threads:
            thread.join()
        best = max(best, n * len(sessions) / (time.perf_counter() - start))
    return best


def measure(program, name, path, inputs):
    import numpy as np
    one, two = forward.make_session(path, 1), forward.make_session(path, 2)
    pair = [one, forward.make_session(path, 1)]
    ours, theirs, core = dict.fromkeys(GOALS, 0), dict.fromkeys(GOALS, 0), ''
    with tempfile.TemporaryDirectory() as work:
        files = [os.path.join(work, 'input%d.npy' % i) for i in range(len(inputs))]
        for file, x in zip(files, inputs.values()):
            np.save(file, x)
        repeat = str(int(min(max(SECONDS * runs_per_second([one], inputs), 15), 2000)))
        for _ in range(ROUNDS):
            for what, modes in (('latency', ((1, 1), (2, 1))), ('throughput', ((1, 2),))):
                for threads, workers in modes:
                    rate, _, core = forward.measure_engine(program, path, threads, workers, files, repeat)
                    ours[what] = max(ours[what], rate)
            single = max(runs_per_second([one], inputs), runs_per_second([two], inputs))
            theirs['latency'] = max(theirs['latency'], single)
            theirs['throughput'] = max(theirs['throughput'], single, runs_per_second(pair, inputs))
    for what, goal in GOALS.items():
        ratio = ours[what] / theirs[what]
        print('%-30s %-10s %9.2f runs/s, onnxruntime %9.2f, ratio %.2f, goal %.1f %s  [OpenBLAS core %s]'
              % (name, what, ours[what], theirs[what], ratio, goal, 'met' if ratio >= goal else 'MISSED', core),
              flush=True)


def networks(work):
    """Name, file and inputs of each network."""
    import generate
    import networks as real
    import numpy as np
    path = os.path.join(work, 'bert.onnx')
    generate.bert(path)
    yield 'bert-base-shaped', path, {'input_ids': np.arange(128, dtype=np.int64)[None] * 7}
    folder = os.environ.get('VN_SHARED', '')
    for name in REAL:
        path = os.path.join(folder, 'models', name + '.onnx')
        photos = oracle.photographs(folder)
        if os.path.exists(path) and photos:
            yield name, path, real.make_inputs(name, forward.make_session(path, 1), photos[0], 0)


def main():
    oracle.use_oracle_python()
    program, names = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as work:
        for name, path, inputs in networks(work):
            if not names or name in names:
                measure(program, name, path, inputs)


if __name__ == '__main__':
    main()
