#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""half_precision.py CLI: integer weights in networks of float16.

A decoder of float16 stays one: all floats in the export are float16, from the scales of its weights to logits and caches. From
one of float32, “--float-type float16” makes such a network, whose inputs and outputs stay float32 unless “--float-io=false” is
given. “--float-type float32” computes a network of float16 in float32 between the inputs and outputs it had. onnxruntime runs
each, and its logits are as near to those of the network that was given as those of the export in float32. What is learned from
samples is learned in float32: second-order rounding of a network of float16 works as of others.
"""
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import genai_folder
import numpy as np
import onnx
from onnx import TensorProto

PRESETS = ('w4', 'w4-matmul', 'w4-mixed', 'w8')
SINGLE, HALF = TensorProto.FLOAT, TensorProto.FLOAT16
LEARNED = ['--rounding', 'second-order', '--data', 'random', '-n', '16']
# type of the network, options; floats inside, floats of inputs and outputs
CASES = [(np.float16, [], HALF, HALF),
         (np.float16, LEARNED, HALF, HALF),
         (np.float32, LEARNED, SINGLE, SINGLE),
         (np.float16, ['--float-type', 'float16'], HALF, HALF),
         (np.float16, ['--float-type', 'float32'], SINGLE, HALF),
         (np.float32, [], SINGLE, SINGLE),
         (np.float32, ['--float-type', 'float16'], HALF, SINGLE),
         (np.float32, ['--float-type', 'float16', '--float-io=false'], HALF, HALF)]
LOST = 1.0      # dB that rounding to float16 may cost
failed = compared = 0


def check(what, good):
    global failed, compared
    compared += 1
    print('ok' if good else 'not ok', what, flush=True)
    failed += not good


def run(path, dtype):
    cache = np.zeros((1, genai_folder.SHARED, 0, genai_folder.SIZE), dtype)
    inputs = {'input_ids': np.array([[3, 1, 4, 1, 5]]), 'attention_mask': np.ones((1, 5), np.int64), 'past.key': cache,
              'past.value': cache}
    return oracle.open_session(path).run(['logits'], inputs)[0].astype(np.float64)


def float_types(model):
    """Of constants, and of inputs and outputs."""
    floats = (SINGLE, HALF, TensorProto.DOUBLE, TensorProto.BFLOAT16)
    ends = list(model.graph.input) + list(model.graph.output)
    return ({each.data_type for each in model.graph.initializer if each.data_type in floats},
            {each.type.tensor_type.elem_type for each in ends if each.type.tensor_type.elem_type in floats})


def main():
    cli = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        logits = {}
        for dtype in (np.float16, np.float32):
            os.mkdir(os.path.join(work, dtype.__name__))
            path = os.path.join(work, dtype.__name__, 'decoder.onnx')
            genai_folder.make_network(path, dtype)
            logits[dtype] = run(path, dtype)
        for preset in PRESETS:
            plain = {}     # of float32 in all, by whether something is learned from samples
            for dtype, options, inside, ends in sorted(CASES, key=lambda case: case[0] is np.float16):
                path = os.path.join(work, 'out.onnx')
                given = os.path.join(work, dtype.__name__, 'decoder.onnx')
                done = subprocess.run([cli, 'quantize', given, '--preset', preset, '-o', path, *options], capture_output=True,
                                      text=True, env={**os.environ, 'VN_NO_VERIFY': '1'})
                what = f'{preset} of {dtype.__name__} {" ".join(options)}'
                if done.returncode != 0:
                    check(f'{what}: {done.stderr}', False)
                    continue
                model = onnx.load(path)
                found = run(path, np.float16 if ends == HALF else np.float32)
                db = 10 * np.log10((logits[dtype] ** 2).mean() / ((found - logits[dtype]) ** 2).mean())
                check(f'{what}: {db:.1f} dB', plain.setdefault(options == LEARNED, db) - LOST < db < 60)
                check(f'{what}: types', float_types(model) == ({inside}, {ends}))
    print(f'{compared} compared, {failed} failed')
    sys.exit(failed > 0 or compared == 0)


if __name__ == '__main__':
    main()
