#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bfloat_precision.py CLI ROOT: integer weights in networks of bfloat16.

A decoder of bfloat16 stays one: all floats in the export are bfloat16, from the scales of its weights to logits and caches.
From one of float32 or float16, “--float-type bfloat16” makes such a network, whose inputs and outputs stay what they were unless
“--float-io=false” is given. What a network of bfloat16 computes in float32 it does in float32 afterwards, positions are not
rounded, and where the standard has an operator for bfloat16 from a later opset on, it stays in float32 between casts:
onnx.checker and strict shape inference take every export.

onnxruntime has no kernels for such networks on a processor: it refuses the exports, which is told before. So each is judged by
the same file with its bfloat16 written as float32, which onnxruntime runs and our engine, that rounds, agrees with; those of
standard operators also by the reference implementation of ONNX. The tables of operators are held against onnx.defs and
onnxruntime.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import oracle

oracle.use_oracle_python()

import genai_folder
import ml_dtypes
import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper

BFLOAT = ml_dtypes.bfloat16
SINGLE, HALF, BRAIN = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16
PRESETS = ('w4', 'w4-matmul', 'w4-mixed', 'w8')
LEARNED = ['--rounding', 'second-order', '--data', 'random', '-n', '4']
ASKED = ['--float-type', 'bfloat16']
# type of the network, options; floats inside, floats of inputs and outputs
CASES = [(np.float32, [], SINGLE, SINGLE),
         (np.float32, LEARNED, SINGLE, SINGLE),
         (BFLOAT, [], BRAIN, BRAIN),
         (BFLOAT, LEARNED, BRAIN, BRAIN),
         (BFLOAT, ASKED, BRAIN, BRAIN),
         (BFLOAT, ['--float-type', 'float32'], SINGLE, BRAIN),
         (BFLOAT, ['--float-type', 'float16'], HALF, BRAIN),
         (np.float16, ASKED, BRAIN, HALF),
         (np.float32, ASKED, BRAIN, SINGLE),
         (np.float32, [*ASKED, '--float-io=false'], BRAIN, BRAIN)]
LOST = 1.5      # dB that rounding scales and what is computed in float to 8 bits may cost
NEAR = 33       # dB between what is computed in bfloat16 and in float32, or by another in bfloat16
FLOATS = (SINGLE, HALF, BRAIN, TensorProto.DOUBLE)
failed = compared = 0
cli, root = os.path.abspath(sys.argv[1]), sys.argv[2]


def check(what, good):
    global failed, compared
    compared += 1
    print('ok' if good else 'not ok', what, flush=True)
    failed += not good


def quantize(given, path, *options, **environment):
    return subprocess.run([cli, 'quantize', given, '-o', path, *options], capture_output=True, text=True,
                          env={**os.environ, 'VN_NO_VERIFY': '1', **environment})


def decibel(found, wanted):
    noise = ((found.astype(np.float64) - wanted.astype(np.float64)) ** 2).mean()
    return 10 * np.log10((wanted.astype(np.float64) ** 2).mean() / max(noise, 1e-30))


# ---- networks ----

def widen(path):
    """The network with float32 for all bfloat16 that it holds, declares and casts to; numbers stay what they are."""
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.data_type == BRAIN:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == 'Cast' and attribute.name == 'to' and attribute.i == BRAIN:
                attribute.i = SINGLE
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.tensor_type.elem_type == BRAIN:
            value.type.tensor_type.elem_type = SINGLE
    return model.SerializeToString()


def is_valid(path):
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except Exception as error:
        print(str(error)[:400])
        return False
    return True


def float_types(model):
    """Of constants, and of inputs and outputs."""
    ends = [*model.graph.input, *model.graph.output]
    return ({each.data_type for each in model.graph.initializer if each.data_type in FLOATS},
            {each.type.tensor_type.elem_type for each in ends if each.type.tensor_type.elem_type in FLOATS})


def types_of_values(path):
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    found = {v.name: v.type.tensor_type.elem_type for v in values}
    found.update({t.name: t.data_type for t in model.graph.initializer})
    return model, found


def run_wide(model, inputs, outputs):
    session = oracle.open_session(model)
    kinds = {'tensor(float)': np.float32, 'tensor(float16)': np.float16}
    taken = {v.name: inputs[v.name].astype(kinds.get(v.type, inputs[v.name].dtype)) for v in session.get_inputs()}
    return [np.asarray(found, np.float64) for found in session.run(outputs, taken)]


def run_here(path, inputs, output, work):
    options, folder = [], os.path.join(work, 'found')
    for i, (name, array) in enumerate(inputs.items()):
        np.save(os.path.join(work, f'{i}.npy'), array)
        options += ['-i', f'{name}={work}/{i}.npy']
    done = subprocess.run([cli, 'run', path, '-o', folder, *options], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr)
        return None
    return np.load(os.path.join(folder, output + '.npy'))


def make_model(nodes, constants, inputs, outputs, opset):
    """inputs, outputs: {name: (type, shape)}"""
    graph = helper.make_graph(nodes, 'network', *([helper.make_tensor_value_info(n, t, s) for n, (t, s) in ends.items()]
                                                  for ends in (inputs, outputs)),
                              [numpy_helper.from_array(a, n) for n, a in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8 if opset < 21 else 10)


def make_standard(kind, dtype, opset):
    """Tokens to logits by standard operators alone: a table, normalizing, attention over all, a gated product and a tied head."""
    rng = np.random.default_rng(7)
    width, words = 64, 96
    constants = {n: (rng.standard_normal(s) / 8).astype(dtype) for n, s in
                 {'table': (words, width), 'wq': (width, width), 'wk': (width, width), 'wv': (width, width),
                  'up': (width, 128), 'gate': (width, 128), 'down': (128, width), 'head': (width, words)}.items()}
    constants |= {'g': np.ones(width, dtype), 'b': np.zeros(width, dtype), 'root': np.array(8, dtype)}
    make = helper.make_node
    nodes = [make('Gather', ['table', 'ids'], ['x']),
             make('LayerNormalization', ['x', 'g', 'b'], ['n']),
             *(make('MatMul', ['n', 'w' + p], [p]) for p in 'qkv'),
             make('Transpose', ['k'], ['kt'], perm=[0, 2, 1]), make('MatMul', ['q', 'kt'], ['s']),
             make('Div', ['s', 'root'], ['scores']), make('Softmax', ['scores'], ['p'], axis=-1),
             make('MatMul', ['p', 'v'], ['a']), make('Add', ['x', 'a'], ['y']),
             make('MatMul', ['y', 'gate'], ['z']), make('Sigmoid', ['z'], ['zs']), make('Mul', ['z', 'zs'], ['silu']),
             make('MatMul', ['y', 'up'], ['u']), make('Mul', ['silu', 'u'], ['m']), make('MatMul', ['m', 'down'], ['d']),
             make('Add', ['y', 'd'], ['out']), make('MatMul', ['out', 'head'], ['logits'])]
    return make_model(nodes, constants, {'ids': (TensorProto.INT64, [1, 9])}, {'logits': (kind, [1, 9, words])}, opset)


def make_early(opset):
    """Operators that came to bfloat16 with opset 13, 16 and 22, and one that no version has for it."""
    rng = np.random.default_rng(9)
    constants = {'w': (rng.standard_normal((8, 3, 3, 3)) / 3).astype(np.float32), 'slope': np.full((8, 1, 1), 0.1, np.float32),
                 'm': (rng.standard_normal((64, 64)) / 8).astype(np.float32), 'shape': np.array([1, 8, 64]),
                 'm2': (rng.standard_normal((64, 32)) / 8).astype(np.float32), 'zero': np.array(0, np.float32)}
    make = helper.make_node
    nodes = [make('Conv', ['x', 'w'], ['c'], pads=[1] * 4), make('PRelu', ['c', 'slope'], ['r']),
             make('LeakyRelu', ['r'], ['l'], alpha=0.2), make('Reshape', ['l', 'shape'], ['f']),
             make('MatMul', ['f', 'm'], ['t']), make('Greater', ['t', 'zero'], ['positive']), make('Elu', ['t'], ['e']),
             make('Where', ['positive', 't', 'e'], ['h']),
             make('ReduceMean', ['h'], ['mean'], axes=[-1], keepdims=1), make('Sub', ['h', 'mean'], ['centred']),
             make('MatMul', ['centred', 'm2'], ['y'])]
    return make_model(nodes, constants, {'x': (SINGLE, [1, 3, 8, 8])}, {'y': (SINGLE, [1, 8, 32])}, opset)


def make_turned(dtype, kind):
    """A product turned by the sines of positions that bfloat16 does not hold, as torch writes it: in float32 from the positions
    to the sines, whatever the rest is; and a mean square in float32."""
    rng = np.random.default_rng(11)
    constants = {'w': (rng.standard_normal((64, 64)) / 8).astype(dtype), 'w2': (rng.standard_normal((64, 64)) / 8).astype(dtype),
                 'rates': (1 / 100 ** (np.arange(64) / 64)).astype(np.float32).reshape(1, 64, 1), 'one': np.array([1]),
                 'two': np.array(2, np.float32), 'eps': np.array(1e-5, np.float32)}
    make = helper.make_node
    nodes = [make('MatMul', ['x', 'w'], ['q']), make('Unsqueeze', ['positions', 'one'], ['p']),
             make('Cast', ['p'], ['pf'], to=SINGLE),
             make('MatMul', ['rates', 'pf'], ['angles']), make('Transpose', ['angles'], ['turned'], perm=[0, 2, 1]),
             make('Cos', ['turned'], ['cos']), make('Sin', ['turned'], ['sin']),
             make('Cast', ['cos'], ['c'], to=kind), make('Cast', ['sin'], ['s'], to=kind),
             make('Mul', ['q', 'c'], ['qc']), make('Mul', ['q', 's'], ['qs']), make('Add', ['qc', 'qs'], ['r']),
             make('Cast', ['r'], ['wide'], to=SINGLE), make('Pow', ['wide', 'two'], ['square']),
             make('ReduceMean', ['square'], ['mean'], axes=[-1], keepdims=1), make('Add', ['mean', 'eps'], ['sum']),
             make('Sqrt', ['sum'], ['length']), make('Div', ['wide', 'length'], ['unit']),
             make('Cast', ['unit'], ['narrow'], to=kind), make('MatMul', ['narrow', 'w2'], ['y'])]
    return make_model(nodes, constants, {'x': (kind, [1, 6, 64]), 'positions': (TensorProto.INT64, [1, 6])},
                      {'y': (kind, [1, 6, 64])}, 17)


# ---- what is compared ----

def check_decoders(work):
    cache = np.zeros((1, genai_folder.SHARED, 0, genai_folder.SIZE), np.float32)
    inputs = {'input_ids': np.array([[3, 1, 4, 1, 5]]), 'attention_mask': np.ones((1, 5), np.int64), 'past.key': cache,
              'past.value': cache}
    given, logits = {}, {}
    for dtype in (BFLOAT, np.float16, np.float32):
        os.mkdir(os.path.join(work, dtype.__name__))
        given[dtype] = os.path.join(work, dtype.__name__, 'decoder.onnx')
        genai_folder.make_network(given[dtype], dtype)
        logits[dtype], = run_wide(widen(given[dtype]), inputs, ['logits'])
    for preset in PRESETS:
        plain = {}     # of float32 in all, by whether something is learned from samples
        for dtype, options, inside, ends in CASES:
            path, what = os.path.join(work, 'out.onnx'), f'{preset} of {dtype.__name__} {" ".join(options)}'
            done = quantize(given[dtype], path, '--preset', preset, *options)
            if done.returncode != 0:
                check(f'{what}: {done.stderr}', False)
                continue
            check(f'{what}: types', float_types(onnx.load(path)) == ({inside}, {ends}))
            check(f'{what}: valid', is_valid(path))
            found, = run_wide(widen(path), inputs, ['logits'])
            db = decibel(found, logits[dtype])
            check(f'{what}: {db:.1f} dB', plain.setdefault(options == LEARNED, db) - LOST < db < 60)
            if BRAIN not in (inside, ends):
                continue
            here = run_here(path, inputs, 'logits', work)
            near = decibel(here, found) if here is not None else np.nan
            check(f'{what}: our engine is {near:.1f} dB from it', near > NEAR)
            told = 'no bfloat16 kernels' in done.stderr
            check(f'{what}: it is told that onnxruntime has no kernels', told == (inside == BRAIN))


def check_standard(work):
    ids = {'ids': np.array([[3, 1, 4, 1, 5, 9, 2, 6, 5]])}
    path, out = os.path.join(work, 'standard.onnx'), os.path.join(work, 'out.onnx')
    onnx.save(make_standard(BRAIN, BFLOAT, 21), path)
    wanted, = run_wide(widen(path), ids, ['logits'])
    with open(os.path.join(work, 'wide.onnx'), 'wb') as file:
        file.write(widen(path))
    for preset in ('w4', 'w8'):
        quantize(os.path.join(work, 'wide.onnx'), out, '--preset', preset)
        plain = decibel(run_wide(out, ids, ['logits'])[0], wanted)
        done = quantize(path, out, '--preset', preset)
        check(f'standard {preset}: {done.stderr}', done.returncode == 0 and is_valid(out))
        check(f'standard {preset}: types', float_types(onnx.load(out)) == ({BRAIN}, {BRAIN}))
        model, types = types_of_values(out)
        check(f'standard {preset}: nothing is cast', all(node.op_type != 'Cast' for node in model.graph.node))
        there = onnx.reference.ReferenceEvaluator(out).run(None, ids)[0].astype(np.float32)
        here = run_here(out, ids, 'logits', work)
        wide, = run_wide(widen(out), ids, ['logits'])
        near, wide_near = (decibel(here, each) if here is not None else np.nan for each in (there, wide))
        check(f'standard {preset}: {near:.1f} dB from the reference, {wide_near:.1f} from float32', min(near, wide_near) > NEAR)
        check(f'standard {preset}: {decibel(wide, wanted):.1f} dB, {plain:.1f} of float32', decibel(wide, wanted) > plain - LOST)


def check_early(work):
    path, out = os.path.join(work, 'early.onnx'), os.path.join(work, 'out.onnx')
    inputs = {'x': np.random.default_rng(2).standard_normal((1, 3, 8, 8)).astype(np.float32)}
    for opset in (9, 11, 13, 16, 17):
        onnx.save(make_early(opset), path)
        for preset in ('w4-matmul', 'w8'):
            for options in ([], ['--float-io=false']):
                what = f'opset {opset}, {preset} {" ".join(options)}'
                plain, done = (quantize(path, p, '--preset', preset, *more)
                               for p, more in ((out + '.plain.onnx', []), (out, [*ASKED, *options])))
                check(f'{what}: {done.stderr[-300:]}', plain.returncode == done.returncode == 0 and is_valid(out))
                model, types = types_of_values(out)
                products = [node for node in model.graph.node if node.op_type in ('MatMul', 'MatMulNBits')]
                scales = [types[node.input[2]] for node in products if node.op_type == 'MatMulNBits']
                check(f'{what}: products', products and all(types.get(n, BRAIN) == BRAIN for node in products
                                                            for n in node.input[:1]) and set(scales) <= {BRAIN})
                wanted, = run_wide(out + '.plain.onnx', inputs, ['y'])
                near = decibel(run_wide(widen(out), inputs, ['y'])[0], wanted)
                here = run_here(out, inputs, 'y', work)
                check(f'{what}: {near:.1f} dB', near > NEAR)
                check(f'{what}: our engine', here is not None and decibel(here, wanted) > NEAR - 3)


def check_turned(work):
    path, out = os.path.join(work, 'turned.onnx'), os.path.join(work, 'out.onnx')
    inputs = {'x': np.random.default_rng(2).standard_normal((1, 6, 64)).astype(BFLOAT).astype(np.float32),
              'positions': np.array([[1001, 1003, 2047, 3001, 4093, 5]])}
    for dtype, kind, options in ((BFLOAT, BRAIN, []), (np.float32, SINGLE, ASKED)):
        onnx.save(make_turned(dtype, kind), path)
        what = f'positions of {dtype.__name__}'
        done = quantize(path, out, '--preset', 'w8', *options)
        check(f'{what}: {done.stderr[-300:]}', done.returncode == 0 and is_valid(out))
        model, types = types_of_values(out)
        singles = ('angles', 'cos', 'sin') + (('square', 'mean', 'length', 'unit') if dtype == BFLOAT else ())
        check(f'{what}: they stay float32', all(types.get(n, 0) == SINGLE for n in singles))
        check(f'{what}: the rest does not', all(types.get(n) == BRAIN for n in ('q', 'qc', 'qs')))
        wanted, = run_wide(widen(path), inputs, ['y'])
        here = run_here(out, inputs, 'y', work)
        check(f'{what}: our engine is {decibel(here, wanted):.1f} dB from it', decibel(here, wanted) > 30)


def check_told(work):
    """What is said of a file that onnxruntime does not load."""
    path, out = os.path.join(work, 'standard.onnx'), os.path.join(work, 'out.onnx')
    wide = os.path.join(work, 'wide.onnx')
    with open(wide, 'wb') as file:
        file.write(widen(path))
    for given, tells in ((path, True), (wide, False)):
        done = subprocess.run([cli, 'inspect', given, '--preflight', '--json'], capture_output=True, text=True)
        check(f'preflight of {os.path.basename(given)}', done.returncode == 0 and ('bfloat16-kernels' in done.stdout) == tells)
    for what, given, options in (('bfloat16', path, []), ('float32', wide, ASKED)):
        for asked in ([], ['--verify']):
            done = quantize(given, out, '--preset', 'w8', '--json', *options, *asked, VN_NO_VERIFY='')
            said = json.loads(done.stdout)
            report = said['report']
            check(f'{what} {asked}: exit {done.returncode}', done.returncode == len(asked))
            check(f'{what} {asked}: nothing is claimed', not report.get('verification') and not report.get('forecast'))
            codes = [note['code'] for note in report['notes']] if 'notes' in report else done.stdout
            check(f'{what} {asked}: it is told', 'bfloat16-kernels' in codes)
        try:
            oracle.open_session(onnx.load(out).SerializeToString())
            check(f'{what}: onnxruntime has kernels now', False)
        except Exception as error:
            check(f'{what}: onnxruntime refuses it', 'NOT_IMPLEMENTED' in str(error))
    done = quantize(path, out, '--preset', 'w8', '--float-type', 'float32')
    session = oracle.open_session(onnx.load(out).SerializeToString())
    check('float32 within bfloat16: onnxruntime loads it', done.returncode == 0 and session is not None and
          float_types(onnx.load(out)) == ({SINGLE}, {BRAIN}))


# ---- tables ----

def read(*path):
    with open(os.path.join(root, *path), encoding='utf-8') as file:
        return file.read()


def find_since(schemas):
    """The opset since which every float of an operator may be bfloat16."""
    since = None
    for schema in sorted(schemas, key=lambda schema: -schema.since_version):
        types = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        used = [p.type_str for p in [*schema.inputs, *schema.outputs]]
        if schema.name == 'Resize':
            used = used[:1]
        floats = [types.get(t, [t]) for t in used if 'tensor(float)' in types.get(t, [t])]
        if not floats or any('tensor(bfloat16)' not in t for t in floats):
            break
        since = schema.since_version
    return since


def check_tables():
    import onnxruntime.capi.onnxruntime_pybind11_state as state
    table = dict(re.findall(r'^VN_BFLOAT \((\w+), +(\d+)\)', read('src', 'quantize', 'resolve', 'vn-bfloats.def'), re.MULTILINE))
    source = read('src', 'quantize', 'resolve', 'resolve-half-nodes.c')
    kept = set(re.findall(r'"(\w+)"', re.search(r'single_types\[\] = \{(.*?)\};', source, re.DOTALL).group(1)))
    runtime = re.findall(r'"(\w+)"', re.search(r'runtime_types\[\] = \{(.*?)\};', source, re.DOTALL).group(1))
    schemas = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == '' and not schema.deprecated:
            schemas.setdefault(schema.name, []).append(schema)
    for name, versions in schemas.items():
        since, graphs = find_since(versions), any(str(a.type).endswith('GRAPH') for a in versions[-1].attributes.values())
        wanted = None if since is None or name in kept or graphs else str(max(since, 7))
        if table.get(name) != wanted:
            check(f'{name}: bfloat16 since {table.get(name)}, but {wanted} in the standard', False)
    check(f'{len(table)} operators', len(table) > 100 and not set(table) - set(schemas))
    contrib = {s.name: s for s in state.get_all_operator_schema() if s.domain == 'com.microsoft' or s.name == runtime[0]}
    for name in runtime:
        types = {c.type_param_str: c.allowed_type_strs for c in contrib[name].type_constraints}
        check(f'{name} of onnxruntime', ('tensor(bfloat16)' in types[contrib[name].outputs[0].typeStr]) ==
              (name != 'EmbedLayerNormalization'))
    source = read('src', 'runtime', 'runtime-bfloat.c')
    kernels = re.findall(r'"(\w+)"', re.search(r'bfloat_kernels\[\] = \{(.*?)\};', source, re.DOTALL).group(1))
    there = {k.op_name for k in state.get_all_opkernel_def() if k.provider == 'CPUExecutionProvider' and
             any('bfloat16' in t for types in k.type_constraints.values() for t in types)}
    check(f'{len(kernels)} kernels, sorted', kernels == sorted(kernels) and not set(kernels) - there)
    check('no product among them', not there & {'MatMul', 'Gemm', 'Conv', 'MatMulNBits', 'DequantizeLinear',
                                                'GatherBlockQuantized', 'GroupQueryAttention', 'Add', 'Mul'})


def main():
    check_tables()
    with tempfile.TemporaryDirectory() as work:
        check_decoders(work)
        check_standard(work)
        check_early(work)
        check_turned(work)
        check_told(work)
    print(f'{compared} compared, {failed} failed')
    sys.exit(failed > 0 or compared == 0)


if __name__ == '__main__':
    main()
