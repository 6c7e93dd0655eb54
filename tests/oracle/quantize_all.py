#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_all.py QUANTIZE_RUN [MODEL...]: every network that can be quantized as it is gives a file that the checker
accepts and onnxruntime loads. Ranges are made up: this is about structure."""
import glob
import os
import subprocess
import sys
import tempfile

import oracle

SETTINGS = [('cpu', []), ('channels', ['--per-channel']), ('a16w8', ['--preset', 'a16w8']),
            ('no-conv', ['--exclude', 'type:Conv', '--wide', 'type:MatMul'])]
NOT_PREPARED = 'prepare the model first'


def check(path):
    import onnx
    import onnxruntime as ort

    onnx.checker.check_model(path, full_check=True)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    ort.InferenceSession(path, options)
    return sum(n.op_type == 'QuantizeLinear' for n in onnx.load(path, load_external_data=False).graph.node)


def quantize(program, path, options, folder):
    """A word about the result: how many tensors, 'skipped', or what went wrong."""
    out = os.path.join(folder, 'out.onnx')
    run = subprocess.run([program, '--unit-ranges', *options, path, out, os.path.join(folder, 'out.json')],
                         capture_output=True, text=True)
    if run.returncode != 0:
        return ('skipped' if NOT_PREPARED in run.stderr else 'WRONG: ' + run.stderr.strip()[:200])
    try:
        return str(check(out))
    except Exception as e:
        return 'WRONG: ' + str(e).strip()[:300]


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    program, paths = sys.argv[1], sys.argv[2:]
    paths = paths or sorted(glob.glob(os.path.join(shared, 'models', '*.onnx')))
    wrong = done = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            results = {label: quantize(program, path, options, folder) for label, options in SETTINGS}
        wrong += sum(r.startswith('WRONG') for r in results.values())
        done += sum(r.isdigit() for r in results.values())
        print('%-44s %s' % (os.path.basename(path), '  '.join('%s %s' % i for i in results.items())))
    print('%d exports load, %d wrong' % (done, wrong))
    sys.exit(0 if done > 0 and wrong == 0 else 1)


if __name__ == '__main__':
    main()
