#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""verify.py CLI SOURCE: `vernier-cli verify` with a Python that has onnxruntime: what it says of an export holds, a file that ONNX Runtime
does not load is told as such, and nothing stays behind in the temporary folder."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import onnx    # noqa: E402
import onnxruntime    # noqa: E402

CLI, SOURCE = sys.argv[1:3]
DEMO = os.path.join(SOURCE, 'data', 'demo')
faults = []


def expect(good, what):
    print(('ok      ' if good else 'WRONG   ') + what)
    if not good:
        faults.append(what)


def run(folder, *args):
    temp = os.path.join(folder, 'tmp')
    os.makedirs(temp, exist_ok=True)
    done = subprocess.run([CLI, 'verify', *args, '--json', '--python', sys.executable], capture_output=True, text=True,
                          env={**os.environ, 'TMPDIR': temp})
    expect(os.listdir(temp) == [], 'nothing is left in the temporary folder: ' + ' '.join(args[1:])[:60])
    return done.returncode, json.loads(done.stdout)


def check_export(folder, preset):
    export = os.path.join(folder, preset + '.onnx')
    data = ['--data', os.path.join(DEMO, 'samples'), '--preprocess', 'minus-one-one']
    subprocess.run([CLI, 'quantize', os.path.join(DEMO, 'demo.onnx'), '-o', export, *data, '--preset', preset], check=True, capture_output=True)
    code, said = run(folder, export, '--model', os.path.join(DEMO, 'demo.onnx'), *data, '--samples', '4', '--runs', '5')
    expect(code == 0 and said['onnxruntime'] == onnxruntime.__version__ and said['samples'] == 4, f'{preset}: runs in onnxruntime')
    expect(said['agrees'] and len(said['outputs']) > 0, f'{preset}: agrees')
    expect(0 < said['seconds'] < 10 and 0 < said['float_seconds'] < 10, f'{preset}: times')
    for output in said['outputs']:
        expect(abs(output['onnxruntime_sqnr_db'] - output['our_sqnr_db']) < 3, f"{preset}: error {output['onnxruntime_sqnr_db']:.1f} dB there, "
               f"{output['our_sqnr_db']:.1f} here")
    return export


def main():
    with tempfile.TemporaryDirectory() as folder:
        for preset in ('cpu', 'qlinear'):
            export = check_export(folder, preset)
        model = onnx.load(export)
        model.graph.node[0].op_type = 'NoSuchOperator'
        broken = os.path.join(folder, 'broken.onnx')
        onnx.save(model, broken)
        code, said = run(folder, broken, '--runs', '1')
        expect(code == 1 and 'error' in said, 'an operator that nobody has: ' + said.get('error', {}).get('message', '')[:80])
        code, said = run(folder, export, '--model', broken, '--runs', '1')
        expect(code == 1 and 'float network' in said.get('error', {}).get('message', ''), 'a float network that does not load is told')
    print(len(faults), 'faults')
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
