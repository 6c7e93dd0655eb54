#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_all.py QUANTIZE_RUN [--all | MODEL...]: every small network, or every one, prepared and quantized, gives a file that
the checker accepts and onnxruntime loads. Ranges are made up: this is about structure. Networks that onnxruntime or the checker
refuse as they are do not count, and those that Vernier refuses by intention must be refused."""
import glob
import os
import subprocess
import sys
import tempfile

import oracle

SETTINGS = [('cpu', 10, []), ('channels', 13, ['--per-channel']), ('a16w8', 21, ['--preset', 'a16w8']),
            ('contrib', 13, ['--preset', 'a16w8']), ('no-conv', 11, ['--exclude', 'type:Conv', '--wide', 'type:MatMul'])]

REFUSED = {'aud_silero_vad_v6_if.onnx': 'are in subgraphs'}


def check(path):
    import onnx
    import onnxruntime as ort

    onnx.checker.check_model(path, full_check=True)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    oracle.open_session(path, options)
    return sum(n.op_type == 'QuantizeLinear' for n in onnx.load(path, load_external_data=False).graph.node)


def quantize(program, path, opset, options, folder):
    """A word about the result: how many tensors, or what went wrong."""
    prepared, out = os.path.join(folder, 'prepared.onnx'), os.path.join(folder, 'out.onnx')
    for command in ([program, '--prepare', str(opset), path, prepared],
                    [program, '--unit-ranges', *options, prepared, out, os.path.join(folder, 'out.json')]):
        run = subprocess.run(command, capture_output=True, text=True)
        wanted = REFUSED.get(os.path.basename(path))
        if run.returncode != 0 and wanted is not None and wanted in run.stderr:
            return 'refused'
        if run.returncode != 0:
            return 'WRONG: ' + run.stderr.strip()[:300]
    if os.path.basename(path) in REFUSED:
        return 'WRONG: not refused'
    try:
        check(prepared)
    except Exception as e:
        return 'WRONG when only prepared: ' + str(e).strip()[:300]
    try:
        return str(check(out))
    except Exception as e:
        return 'WRONG: ' + str(e).strip()[:300]


def is_valid(path):
    try:
        check(path)
        return True
    except Exception as e:
        print('%-44s not counted: %s' % (os.path.basename(path), str(e).strip()[:120]))
        return False


def main():
    oracle.use_oracle_python()
    shared = oracle.shared_folder()
    program, paths = sys.argv[1], [a for a in sys.argv[2:] if a != '--all']
    everything = sorted(glob.glob(os.path.join(shared, 'models', '*.onnx')))
    paths = paths or [path for path in everything if os.path.basename(path) in REFUSED or oracle.choose_networks([path])]
    wrong = done = 0
    for path in [p for p in paths if is_valid(p)]:
        results = {}
        for label, opset, options in SETTINGS:
            with tempfile.TemporaryDirectory() as folder:
                results[label] = quantize(program, path, opset, options, folder)
        wrong += sum(r.startswith('WRONG') for r in results.values())
        done += sum(r.isdigit() for r in results.values())
        print('%-44s %s' % (os.path.basename(path), '  '.join('%s %s' % i for i in results.items())), flush=True)
    print('%d exports load, %d wrong' % (done, wrong))
    sys.exit(0 if done > 0 and wrong == 0 else 1)


if __name__ == '__main__':
    main()
