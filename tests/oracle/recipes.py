#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes.py CLI RECIPE_RANDOM [COUNT [FIRST]]: any recipe that validates yields a network that passes onnx.checker and that
onnxruntime loads and runs. Recipes are drawn, seeded, from the table of settings. And of every setting in that table a value
that is wrong, in a recipe and as an option: no file is written, and the message names the setting, the value and what is
allowed."""
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
    session = oracle.open_session(path, options)
    rng = np.random.default_rng(1)
    feed = {i.name: rng.normal(size=[d if isinstance(d, int) else 1 for d in i.shape])
            .astype(np.float16 if 'float16' in i.type else np.float32)
            for i in session.get_inputs()}
    session.run(None, feed)


REFUSALS = [('truncate', 'cannot be cut'), ('truncate', 'do not divide it in two'), ('op-types', 'no node of the network is meant'),
            ('only-nodes', 'no node of the network is meant'), ('opset', 'is not known; choose one up to')]


def is_refused(recipe, done, out):
    """What a recipe means for a network is known when that is read: where it can be cut, and whether names name anything."""
    with open(recipe) as f:
        said = json.load(f)
    told = any(field in said and text in done.stderr for field, text in REFUSALS)
    return told and done.returncode == 1 and not os.path.exists(out)


def as_told(value):
    """A value as a message shows it: whole numbers with all of their digits."""
    return str(int(value)) if not isinstance(value, str) and value == int(value) else f'{value}'


def refuse_wrong(work):
    """How many wrong values were tried, and how many were taken or badly told."""
    recipe, out = os.path.join(work, 'wrong.json'), os.path.join(work, 'wrong.onnx')
    model = os.path.join(oracle.shared_folder(), 'models', MODELS[0] + '.onnx')
    command = [CLI, 'quantize', model, '-o', out, '--data', 'random', '--samples', '2', '--held-out', '0', '--skip-compare']
    tried = failed = 0
    for line in subprocess.run([RANDOM, '--wrong'], check=True, capture_output=True, text=True).stdout.splitlines():
        where, name, value, allowed = line.split('\t')
        content = {name: json.loads(value)}
        with open(recipe, 'w') as f:
            json.dump({'vernier-recipe': 1, **(content if where == 'recipe' else {'rules': [{'nodes': '*', **content}]})}, f)
        ways = [(['--recipe', recipe], name)]
        # on the command line everything is text, and so are names in lists
        if where == 'recipe' and not allowed.startswith('a '):
            ways.append(([f'--{name}={json.loads(value)}'], '--' + name))
        for option, told in ways:
            done = subprocess.run(command + option, capture_output=True, text=True)
            wanted = [told, allowed]
            if not (allowed.startswith('a ') or allowed == 'true or false'):
                wanted.append(as_told(json.loads(value)))
            tried += 1
            if done.returncode == 0 or os.path.exists(out) or not all(w in done.stderr for w in wanted):
                failed += 1
                print(f'{where} {name} = {value}: exit {done.returncode}, {done.stderr.strip()[:300]}; wanted: {wanted}')
    return tried, failed


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    models = [os.path.join(here, '..', '..', 'data', 'demo', 'demo.onnx')]
    models += [os.path.join(oracle.shared_folder(), 'models', m + '.onnx') for m in MODELS]
    failed = refused = 0
    with tempfile.TemporaryDirectory() as work:
        recipe, out = os.path.join(work, 'recipe.json'), os.path.join(work, 'q.onnx')
        for seed in range(FIRST, FIRST + COUNT):
            for model in models:
                subprocess.run([RANDOM, str(seed), model, recipe], check=True)
                if os.path.exists(out):
                    os.unlink(out)
                done = subprocess.run([CLI, 'quantize', model, '-o', out, '--recipe', recipe, '--data', 'random', '--samples', '2',
                                       '--held-out', '0', '--skip-compare'], capture_output=True, text=True)
                try:
                    if is_refused(recipe, done, out):
                        refused += 1
                        continue
                    if done.returncode != 0:
                        raise RuntimeError(done.stderr.strip())
                    check(out, not for_others(recipe))
                except Exception as error:    # whatever onnx and onnxruntime throw
                    failed += 1
                    print(f'seed {seed}, {os.path.basename(model)}: {str(error)[:600]}')
                    with open(recipe) as f:
                        print(f.read())
        tried, wrong = refuse_wrong(work)
    print(f'{COUNT * len(models)} recipes, {failed} failed, {refused} name what the network lacks; {tried} wrong values, {wrong} taken or badly told')
    sys.exit(1 if failed or wrong or tried < 100 else 0)


main()
