#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes.py CLI RECIPE_RANDOM [COUNT [FIRST]]: any recipe that validates yields a network that passes onnx.checker and that
onnxruntime loads and runs. Recipes are drawn, seeded, from the table of settings."""
import json
import os
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402

CLI, RANDOM = sys.argv[1:3]
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 30
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 1
MODELS = ['mnist_rten_op18', 'kws_micro_fp32']


def for_others(recipe):
    """AMD's operators without functions: nothing but AMD's own tools runs them."""
    with open(recipe) as f:
        return json.load(f).get('vendor-domain', 'none') != 'none'


def check(path, load):
    onnx.checker.check_model(onnx.load(path), full_check=True)
    if not load:
        return
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    rng = np.random.default_rng(1)
    feed = {i.name: rng.normal(size=[d if isinstance(d, int) else 1 for d in i.shape])
            .astype(np.float16 if 'float16' in i.type else np.float32)
            for i in session.get_inputs()}
    session.run(None, feed)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    models = [os.path.join(here, '..', '..', 'data', 'demo', 'demo.onnx')]
    models += [os.path.join(oracle.shared_folder(), 'models', m + '.onnx') for m in MODELS]
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        recipe, out = os.path.join(work, 'recipe.json'), os.path.join(work, 'q.onnx')
        for seed in range(FIRST, FIRST + COUNT):
            for model in models:
                subprocess.run([RANDOM, str(seed), model, recipe], check=True)
                done = subprocess.run([CLI, 'quantize', model, '-o', out, '--recipe', recipe, '--data', 'random', '--samples', '2',
                                       '--held-out', '0', '--skip-compare'], capture_output=True, text=True)
                try:
                    if done.returncode != 0:
                        raise RuntimeError(done.stderr.strip())
                    check(out, not for_others(recipe))
                except Exception as error:    # whatever onnx and onnxruntime throw
                    failed += 1
                    print(f'seed {seed}, {os.path.basename(model)}: {str(error)[:600]}')
                    with open(recipe) as f:
                        print(f.read())
    print(f'{COUNT * len(models)} recipes, {failed} failed')
    sys.exit(1 if failed else 0)


main()
