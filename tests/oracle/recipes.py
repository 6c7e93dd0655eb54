#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes.py CLI RECIPE_RANDOM [--told] [COUNT [FIRST [NETWORK...]]]: any recipe that validates yields a network that passes
onnx.checker, that onnxruntime loads, and whose outputs there are those of our own run of it and have the error that our
simulation told; or nothing is written, and the message names the setting or the node and says why.

Recipes are drawn, seeded, from the table of settings, rules and given ranges among them: COUNT from the seed FIRST on, each for
the next of the networks: the demo, those of tests/lib/mixed-models.h, and small ones of VN_SHARED. What fails is printed with its
recipe and the command that makes it again. At the end stands which refusals there were, and how often.

--told: small real networks with their own samples, quantized with such recipes as a user does it, and verified. The signal to
noise of each output that was told, and that of its worst part, is that of onnxruntime on the held-out samples, as it is written
and with its optimizations, on all but a few of a hundred outputs.

And of every setting in that table a value that is wrong, in a recipe and as an option: no file is written, and the message names
the setting, the value and what is allowed."""
import collections
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import numpy as np    # noqa: E402
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
from samples import Source    # noqa: E402

CLI, RANDOM = [os.path.abspath(p) for p in sys.argv[1:3]]
ASKS_TOLD = sys.argv[3:4] == ['--told']
NUMBERS = sys.argv[4:] if ASKS_TOLD else sys.argv[3:]
COUNT = int(NUMBERS[0]) if NUMBERS else 60
FIRST = int(NUMBERS[1]) if len(NUMBERS) > 1 else 1
NAMED = NUMBERS[2:]
MIXED = ['mixed_pictures', 'mixed_words', 'mixed_biased']
SHARED = ['mnist_rten_op18', 'kws_micro_fp32', 'aud_dtln_1_lstm']
SAMPLES = 3
MOST_SECONDS = 60
# The same network run twice: 40 dB on the median sample, or as near as onnxruntime is to itself when it optimizes.
AGREEMENT_DB, ITSELF_DB = 40.0, 4.0
# The error that we told beside the one in onnxruntime.
TOLD_DB = 3.0
# Of a hundred exports so many may be valid, load as they are written, and become something by onnxruntime's own optimizations
# that it
# refuses itself: bfloat16 beside float in a fused LayerNormalization, integers of two types in a fused MatMul and Add.
MOST_UNDONE = 5


undone = collections.Counter()    # what onnxruntime said of them


class Wrong(Exception):
    """What was promised and does not hold."""


# ---- networks and samples ----

def find_networks(work):
    """Paths of the networks by name."""
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([RANDOM, '--models', work], check=True)
    found = {'demo': os.path.join(here, '..', '..', 'data', 'demo', 'demo.onnx')}
    found.update({name: os.path.join(work, name + '.onnx') for name in MIXED})
    if os.path.isdir(os.environ.get('VN_SHARED', '')):
        found.update({name: os.path.join(os.environ['VN_SHARED'], 'models', name + '.onnx') for name in SHARED})
    names = NAMED or list(found)
    return {name: os.path.abspath(found.get(name) or os.path.join(oracle.shared_folder(), 'models', name + '.onnx'))
            for name in names}


def draw_input(name, entry, seed):
    """One input of onnxruntime's description: whole numbers stay below what they index."""
    shape = oracle.input_shape(name, entry.shape, name=entry.name)
    if 'int' in entry.type:
        return oracle.whole_input(name, entry.name, seed, shape, np.int32 if 'int32' in entry.type else np.int64)
    values = np.random.default_rng(seed).normal(size=shape)
    return values.astype(np.float16 if 'float16' in entry.type else np.float32)


def write_samples(name, path, folder):
    """The samples, as they are given to onnxruntime; in @folder one .npz for each, and one in a folder for each."""
    inputs = onnxruntime.InferenceSession(path, quiet(), providers=['CPUExecutionProvider']).get_inputs()
    samples = []
    for s in range(SAMPLES):
        feed = {entry.name: draw_input(name, entry, 100 * s + i) for i, entry in enumerate(inputs)}
        for place in (os.path.join(folder, 'all'), os.path.join(folder, str(s))):
            os.makedirs(place, exist_ok=True)
            np.savez(os.path.join(place, '%d.npz' % s), **feed)
        samples.append(feed)
    return samples


# ---- running ----

def quiet(as_written=False):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if as_written:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def as_input(x, entry):
    """In float16 where that is taken, and with channels behind."""
    if x.ndim == 4 and list(x.shape) != entry.shape and [x.shape[i] for i in (0, 2, 3, 1)] == entry.shape:
        x = x.transpose(0, 2, 3, 1)
    return x.astype(np.float16) if 'float16' in entry.type else x


def run_there(path, samples, as_written=False):
    session = oracle.open_session(path, quiet(as_written))
    inputs = {i.name: i for i in session.get_inputs()}
    return [dict(zip([o.name for o in session.get_outputs()],
                     session.run(None, {n: as_input(x, inputs[n]) for n, x in feed.items() if n in inputs}))) for feed in samples]


def run_optimized(path, samples, written):
    """As written where onnxruntime's optimizations do not succeed."""
    try:
        session = oracle.open_session(path, quiet())
    except Exception as error:
        undone[re.sub('[0-9]+', 'N', str(error))] += 1
        return written
    del session
    return run_there(path, samples)


def run_here(path, folder, names):
    results = []
    for s in range(SAMPLES):
        out = os.path.join(folder, 'out')
        done = call([CLI, 'run', path, '--data', os.path.join(folder, str(s)), '-o', out])
        if done.returncode != 0:
            raise Wrong('our run: ' + done.stderr)
        results.append({name: np.load(os.path.join(out, re.sub('[/:]', '_', name) + '.npy')) for name in names})
    return results


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit_time)
    if done.returncode < 0:
        raise Wrong(f'signal {-done.returncode} (24: more than {MOST_SECONDS} s of processor time) ends {" ".join(command)}')
    return done


# ---- judging ----

def sqnr(pairs):
    """In dB; numbers that are not finite must be the same ones."""
    signal = noise = 0.0
    for a, b in pairs:
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        if a.shape != b.shape:
            raise Wrong(f'shapes {a.shape} and {b.shape}')
        finite = np.isfinite(a)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return -np.inf
        signal += float((a[finite] ** 2).sum())
        noise += float(((a[finite] - b[finite]) ** 2).sum())
    if not np.isfinite(noise):
        return -np.inf
    return np.inf if noise == 0 else 10 * np.log10(max(signal, 1e-300) / noise)


QUANTIZERS = ('QuantizeLinear', 'DequantizeLinear', 'DynamicQuantizeLinear')


def show_all(path, target):
    """The same network with all tensors of known type as outputs; returns the nodes that give them, by name."""
    model = onnx.load(path)
    kinds = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.value_info if v.type.tensor_type.elem_type}
    made = {name: node for node in model.graph.node for name in node.output if name}
    model.graph.output.extend(kinds[name] for name in made if name in kinds)
    onnx.save(model, target)
    return {name: made[name] for name in made if name in kinds}


def find_first_difference(path, work, samples):
    """The first tensor that is not the same, in words, if it is not what a quantizer made of values between two steps: they
    differ in the last bits, as sums are added up in another order, and fall to either. A scale that values share makes that many
    of them."""
    made = show_all(path, os.path.join(work, 'all.onnx'))
    there = run_there(os.path.join(work, 'all.onnx'), samples, as_written=True)
    ours = run_here(os.path.join(work, 'all.onnx'), work, list(there[0]))
    agreement = {name: sqnr([(a[name], b[name]) for a, b in zip(there, ours)]) for name in there[0]}
    for name, node in made.items():
        if agreement[name] >= AGREEMENT_DB + 20:
            continue
        differing = np.mean([np.mean(np.asarray(a[name] != b[name])) for a, b in zip(there, ours)])
        fed = min(agreement.get(i, np.inf) for i in node.input)
        if (node.op_type in QUANTIZERS or 'Quantize' in node.op_type or 'Fix' in node.op_type) and fed > 100 and differing < 0.05:
            return None
        return (f'{node.op_type} {name} agrees to {agreement[name]:.1f} dB, its inputs to {fed:.1f} dB; '
                f'{100 * differing:.1f} % differ')
    return None


def check_agreement(path, work, samples, written, ours, optimized):
    """Our run of the export, and that of onnxruntime node by node."""
    for name in written[0]:
        pairs = [(a[name], b[name]) for a, b in zip(written, ours)]
        median = float(np.median([sqnr([p]) for p in pairs]))
        if median >= AGREEMENT_DB:
            continue
        itself = sqnr([(a[name], b[name]) for a, b in zip(written, optimized)])
        if sqnr(pairs) >= itself - ITSELF_DB:
            continue
        reason = find_first_difference(path, work, samples)
        if reason is not None:
            raise Wrong(f'{name}: our run of the export and onnxruntime agree to {sqnr(pairs):.1f} dB, {median:.1f} dB on the '
                        f'median sample, onnxruntime with itself to {itself:.1f} dB: {reason}')


def number(value):
    return float({'inf': 'inf', '-inf': '-inf', 'nan': 'nan'}.get(value, value))


def as_share(db):
    """Of noise in the signal, of amplitudes."""
    return 10 ** (-db / 20)


def check_told(report, reference, written, ours, recipe):
    """The error of outputs in the report is the one in onnxruntime, give or take TOLD_DB, or what our run of the export and that
    of onnxruntime differ by, which check_agreement() has looked at: errors as small as that say no more. Of float16 it tells
    what a processor of float16 does; onnxruntime computes such networks in float32 between their ends, which is at least as
    good, and nothing overflows on the way."""
    told = {t['tensor']: number(t['sqnr_db']) for t in report['tensors'] if t['output'] and t.get('sqnr_db') is not None}
    half = recipe['format'] == 'fp16'
    if half and any(t['not_finite'] for t in report['tensors']):
        return
    for name in written[0]:
        found = sqnr([(a[name], b[name]) for a, b in zip(reference, written)])
        if name not in told or min(told[name], found) >= 100 or (half and told[name] < found):
            continue
        differing = as_share(sqnr([(a[name], b[name]) for a, b in zip(written, ours)]))
        if abs(told[name] - found) > TOLD_DB and abs(as_share(told[name]) - as_share(found)) > differing:
            raise Wrong(f'{name}: the error was told as {told[name]:.1f} dB and is {found:.1f} dB in onnxruntime')


def computes_else(recipe):
    """Errors are told against the prepared network, which these make another one."""
    return recipe['clip6-to-relu'] or recipe['simulate-npu'] or {'random-weights', 'clip-to-relu'} & set(recipe.get('passes', []))


def check_export(path, work, samples, reference, recipe, report):
    onnx.checker.check_model(onnx.load(path), full_check=True)
    names = [o.name for o in onnx.load(path, load_external_data=False).graph.output]
    ours = run_here(path, work, names)
    if recipe.get('vendor-domain', 'none') != 'none':    # nothing but AMD's own tools runs them
        return
    written = run_there(path, samples, as_written=True)
    check_agreement(path, work, samples, written, ours, run_optimized(path, samples, written))
    if not computes_else(recipe):
        check_told(report, reference, written, ours, recipe)


def check_refusal(done, out, recipe, model):
    """The message names a setting of the recipe, or a node or tensor of the network, and nothing was written."""
    said = json.loads(done.stdout)['error'] if done.stdout else {'message': done.stderr}
    text = said['message']
    words = [k for k in recipe] + [k for r in recipe.get('rules', []) for k in r]
    quoted = re.findall('“([^”]+)”', text)
    graph = onnx.load(model, load_external_data=False).graph
    names = {n for node in graph.node for n in (node.name, node.op_type, *node.input, *node.output)}
    if done.returncode != 1 or os.path.exists(out):
        raise Wrong(f'exit {done.returncode}, file written: {os.path.exists(out)}: {text}')
    if len(text) < 20 or re.search('internal|assert|CRITICAL', text):
        raise Wrong('no reason: ' + text)
    if not any(re.search(rf'\b{re.escape(w)}\b', text) for w in words) and not any(q in names for q in quoted):
        raise Wrong('names neither a setting nor a node: ' + text)
    return re.sub('“[^”]*”', '“…”', re.sub('[0-9]+', 'N', text))


def check_recipe(seed, name, network):
    """Of one seed: %None, or the kind of refusal."""
    work, path = network['folder'], network['path']
    recipe, out = os.path.join(work, 'recipe.json'), os.path.join(work, 'q.onnx')
    for old in (out, recipe + '.ranges'):
        if os.path.exists(old):
            os.unlink(old)
    subprocess.run([RANDOM, str(seed), path, recipe], check=True)
    with open(recipe) as f:
        said = json.load(f)
    done = call([CLI, 'quantize', path, '-o', out, '--recipe', recipe, '--data', os.path.join(work, 'all'), '--held-out', '0',
                 '--json'])
    if re.search('CRITICAL|WARNING|ERROR', done.stderr):
        raise Wrong(done.stderr)
    if done.returncode != 0:
        return check_refusal(done, out, said, path)
    check_export(out, work, network['samples'], network['reference'], said, json.loads(done.stdout)['report'])
    return None


def print_failure(seed, name, error, work):
    print(f'seed {seed}, {name}: {type(error).__name__}: {str(error)[:900]}')
    print(f'  again: recipes.py CLI RECIPE_RANDOM 1 {seed} {name}')
    recipe = os.path.join(work, 'recipe.json')
    with open(recipe) as f:
        said = json.load(f)
    subprocess.run([RANDOM, '--preset', said['preset'], recipe + '.plain'], check=True)
    with open(recipe + '.plain') as f:
        plain = json.load(f)
    kept = ('vernier-recipe', 'preset')
    print('  ' + json.dumps({k: v for k, v in said.items() if k in kept or v not in (plain.get(k), [])}))
    if os.path.exists(recipe + '.ranges'):
        with open(recipe + '.ranges') as f:
            print('  ranges: ' + f.read(), end='')
    sys.stdout.flush()


def try_recipes(work):
    """How many were tried, and failed."""
    networks, refusals, failed = {}, collections.Counter(), 0
    for name, path in find_networks(work).items():
        folder = os.path.join(work, name)
        samples = write_samples(name, path, folder)
        networks[name] = {'path': path, 'folder': folder, 'samples': samples, 'reference': run_there(path, samples)}
    for seed in range(FIRST, FIRST + COUNT):
        name = list(networks)[seed % len(networks)]
        try:
            refusal = check_recipe(seed, name, networks[name])
            refusals[refusal] += 1
        except Exception as error:    # whatever onnx and onnxruntime throw
            failed += 1
            print_failure(seed, name, error, networks[name]['folder'])
    for text, n in refusals.most_common():
        print(f'{n:5} {text or "exported"}')
    for text, n in undone.most_common():
        print(f'{n:5} run as written, as onnxruntime cannot optimize them: {text}')
    if sum(undone.values()) > max(1, refusals[None] * MOST_UNDONE // 100):
        failed += 1
        print('too many exports that onnxruntime cannot optimize')
    return refusals[None], sum(refusals.values()) - refusals[None], failed


# ---- wrong values ----

def as_told(value):
    """A value as a message shows it: whole numbers with all of their digits."""
    return str(int(value)) if not isinstance(value, str) and value == int(value) else f'{value}'


def refuse_wrong(work):
    """How many wrong values were tried, and how many were taken or badly told."""
    recipe, out = os.path.join(work, 'wrong.json'), os.path.join(work, 'wrong.onnx')
    model = os.path.join(work, 'mixed_biased.onnx')
    command = [CLI, 'quantize', model, '-o', out, '--data', 'random', '--samples', '2', '--held-out', '0', '--skip-compare']
    tried = failed = 0
    for line in subprocess.run([RANDOM, '--wrong'], check=True, capture_output=True, text=True).stdout.splitlines():
        where, name, value, allowed = line.split('\t')
        content = {name: json.loads(value)}
        with open(recipe, 'w') as f:
            json.dump({'vernier-recipe': 1, **(content if where == 'recipe' else {'rules': [{'nodes': '*', **content}]})}, f)
        ways = [(['--recipe', recipe], name)]
        # on the command line everything is text, and so are names in lists
        if where == 'recipe' and not allowed.startswith(('a ', 'an ')):
            ways.append(([f'--{name}={json.loads(value)}'], '--' + name))
        for option, told in ways:
            done = subprocess.run(command + option, capture_output=True, text=True)
            wanted = [told, allowed]
            if not (allowed.startswith(('a ', 'an ')) or allowed == 'true or false'):
                wanted.append(as_told(json.loads(value)))
            tried += 1
            if done.returncode == 0 or os.path.exists(out) or not all(w in done.stderr for w in wanted):
                failed += 1
                print(f'{where} {name} = {value}: exit {done.returncode}, {done.stderr.strip()[:300]}; wanted: {wanted}')
    return tried, failed


# ---- what is told of real networks ----

REAL = ['mnist_cntk_op8', 'cls_cifar10_winml_cnn', 'kws_micro_fp32', 'cls_ppocr_v2_angle', 'det_openseeface_mnv3',
        'mnist_rten_op18',
        'cls_mobilenetv2_035_128_flowers', 'det_ultraface_rfb320', 'vit_cct2_32_op20', 'seg_sinet_portrait_320',
        'sr_espcn_bsd300_rgb',
        'aud_yamnet256_st']
REAL_SAMPLES = 32              # every second one is held out: enough for figures of their own
MOST_APART_DB = 0.5
LEAST_SHARE = 0.98    # or one figure less, of few
NOTHING_LEFT_DB, EXACT_DB = -20, 60    # beyond, tenths of decibels say nothing


class Real:
    """A real network, its samples in a folder, and what it gives in float of those that are held out."""

    def __init__(self, name, work):
        self.name, self.folder = name, os.path.join(work, name)
        self.path = os.path.join(oracle.shared_folder(), 'models', name + '.onnx')
        made = Source(oracle.shared_folder(), name, oracle.open_session(self.path, quiet())).make(REAL_SAMPLES)
        os.makedirs(os.path.join(self.folder, 'samples'))
        for i, feed in enumerate(made):
            np.savez(os.path.join(self.folder, 'samples', '%02d.npz' % i), **feed)
        self.held = made[1::2]
        self.floats = run_there(self.path, self.held, as_written=True)


def find_part(said, value):
    """The part of an output that is named, as an index; None: all of it, or it is named otherwise."""
    found = re.match(r'(channels?|slices?) ([0-9–, ]+)( of axis ([0-9]+))? ', said or '')
    if found is None:
        return None
    axis = int(found.group(4) or 1)
    runs = [[int(n) for n in run.split('–')] for run in found.group(2).split(',')]
    return (slice(None),) * axis + ([k for run in runs for k in range(run[0], run[-1] + 1)],) if axis < value.ndim else None


def list_told(report):
    """(output, which of its figures, dB there, dB in optimized onnxruntime, part)"""
    # the worst part of each comes first
    there = {o['output']: o for o in reversed(report.get('runtime', {}).get('outputs', []))}
    for t in report['tensors']:
        if not t['output'] or t.get('sqnr_db') is None:
            continue
        o = there.get(t['tensor'])
        shift = 0 if o is None or o['agrees'] else number(o['runtime_sqnr_db']) - number(o['own_sqnr_db'])
        yield t['tensor'], 'worst part' if t.get('worst_part') else 'output', number(t['sqnr_db']), shift, t.get('worst_part')


def judge_told(real, said, report, out):
    """Lines (figure, told, found), one for each output and way to run it."""
    rows = []
    for way, as_written in ('as written', True), ('optimized', False):
        try:
            found = run_there(out, real.held, as_written)
        except Exception as error:
            undone[re.sub('[0-9]+', 'N', str(error))[:200]] += 1
            continue
        for output, what, told, shift, part in list_told(report):
            at = find_part(part, found[0][output])
            if part and at is None:
                raise Wrong(f'{output}: no such part: {part}')
            db = sqnr([(a[output][at], b[output][at]) if part else (a[output], b[output]) for a, b in zip(real.floats, found)])
            # as check_told() says of float16: in onnxruntime values are rounded to it at the few edges of what has no such kernel
            if said.get('format') == 'fp16' and as_written and db > told:
                continue
            rows.append((f'{output}, {what}, {way}', told + (0 if as_written else shift), db))
    return rows


def is_near(told, found):
    told, found = (min(max(v, NOTHING_LEFT_DB), EXACT_DB) for v in (told, found))
    return abs(told - found) <= MOST_APART_DB


def tell_one(seed, real):
    """None: it was refused, or by intent onnxruntime cannot run it, or it is another network."""
    recipe, out = os.path.join(real.folder, 'recipe.json'), os.path.join(real.folder, 'q.onnx')
    for old in (out, recipe + '.ranges'):
        if os.path.exists(old):
            os.unlink(old)
    subprocess.run([RANDOM, str(seed), real.path, recipe], check=True)
    with open(recipe) as f:
        said = json.load(f)
    if said.get('vendor-domain', 'none') != 'none' or 'random-weights' in said.get('passes', []):
        return None
    done = call([CLI, 'quantize', real.path, '-o', out, '--recipe', recipe, '--data', os.path.join(real.folder, 'samples'),
                 '--held-out',
                 str(REAL_SAMPLES // 2), '--train-time', '3', '--verify', '--python', sys.executable, '--json'])
    report = json.loads(done.stdout).get('report') if done.stdout else None
    return judge_told(real, said, report, out) if report is not None and os.path.exists(out) else None


def try_told(work):
    """(outputs, those told rightly, recipes that fail)"""
    reals, n, n_near, n_recipes, failed = {}, 0, 0, 0, 0
    for seed in range(FIRST, FIRST + COUNT):
        name = (NAMED or REAL)[seed % len(NAMED or REAL)]
        real = reals[name] = reals.get(name) or Real(name, work)
        try:
            rows = tell_one(seed, real)
        except Exception as error:    # whatever onnx and onnxruntime throw
            failed += 1
            print_failure(seed, name, error, real.folder)
            continue
        n_recipes += rows is not None
        off = [row for row in rows or [] if not is_near(row[1], row[2])]
        n, n_near = n + len(rows or []), n_near + len(rows or []) - len(off)
        if off:
            print_failure(seed, name, Wrong('; '.join(f'{what}: told {told:.2f}, found {found:.2f} dB' for what, told,
                                                      found in off)),
                          real.folder)
    for text, k in undone.most_common():
        print(f'{k:5} not run: {text}')
    print(f'{n_recipes} of {COUNT} recipes exported; {n_near} of {n} figures are within {MOST_APART_DB} dB '
          f'({100 * n_near / max(n, 1):.1f} %)')
    return n, n_near, failed


def main():
    if ASKS_TOLD:
        with tempfile.TemporaryDirectory() as work:
            n, n_near, failed = try_told(work)
        sys.exit(failed > 0 or n < COUNT or n_near < min(LEAST_SHARE * n, n - 1))
    with tempfile.TemporaryDirectory() as work:
        exported, refused, failed = try_recipes(work)
        tried, wrong = refuse_wrong(work)
    print(f'{COUNT} recipes: {exported} exported, {refused} refused with a reason, {failed} failed; '
          f'{tried} wrong values, {wrong} taken or badly told')
    sys.exit(1 if failed or wrong or tried < 100 or exported < COUNT / 2 else 0)


main()
