#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""layer_lists.py CLI SOURCE: what the tool of each target is told of layers, read by a reader of its own for each form.

The readers run what is written as the tool would, with a stand-in for the tool, and find its names among those of the network by
onnx: of nodes, of their results, of weights. Where VN_COREML_PYTHON has coremltools it is asked itself. Leaving the layers of a
list in float must help more, in onnxruntime, than leaving as many of the others so. A network has names with quotes, line ends
and commas in them. A target with a list that has no reader here fails.
"""
import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

failures = []
compared = 0


def check(what, ok):
    global compared
    compared += 1
    if not ok:
        print('NOT OK', what)
        failures.append(what)


# ---- readers: names in the file, as the tool gets them ----

@contextlib.contextmanager
def stand_in(**modules):
    """Modules that are not installed, by name with "_" for "."."""
    made = {name.replace('__', '.'): types.SimpleNamespace(**what) for name, what in modules.items()}
    before = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    yield
    for name, module in before.items():
        del sys.modules[name]
        if module is not None:
            sys.modules[name] = module


def read_hailo(path, model):
    """The parsed network has other names, of several nodes each; what is printed is translated back."""
    layers = {f'net/conv{i + 1}': {'original_names': [node.name]} for i, node in enumerate(model.graph.node)}
    layers['net/input_layer1'] = {'type': 'input_layer'}
    runner = types.SimpleNamespace(get_hn_dict=lambda: {'layers': layers})
    out, err = io.StringIO(), io.StringIO()
    with stand_in(hailo_sdk_client={'ClientRunner': lambda har: runner}), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(err):
        runpy.run_path(path)['main']('net.har')
    check(f'{path}: no layer is missed: {err.getvalue()}', not err.getvalue())
    found = re.fullmatch(r'quantization_param\(\[(conv\d+(?:, conv\d+)*)\], precision_mode=a16_w16\)\n', out.getvalue())
    check(f'{path}: one line of a model script', found is not None)
    return [layers[f'net/{layer}']['original_names'][0] for layer in found[1].split(', ')] if found else []


def read_coreml(path, model):
    """Names of constants are those of weights, made names."""
    script = runpy.run_path(path)
    names = {re.sub(r'[^A-Za-z0-9_]', '_', i.name): i.name for i in model.graph.initializer}
    found = script['find_constants']([name + '_to_fp16' for name in names])
    check(f'{path}: each weight is found', None not in found.values())
    check(f'{path}: each weight is that', all(names[constant[:-len('_to_fp16')]] == weight
                                              for weight, constant in found.items() if constant))
    return list(found)


def read_rknn(path, model):
    """A mapping of one level, with strings in double quotes."""
    lines = [line for line in open(path, encoding='utf-8').read().split('\n') if line and not line.lstrip().startswith('#')]
    check(f'{path}: the key', lines[0] == 'custom_quantize_layers:')
    entries = [re.fullmatch(r'  ("(?:[^"\\]|\\.)*"): float16  # .*', line) for line in lines[1:]]
    check(f'{path}: all lines are entries', None not in entries)
    return [json.loads(entry[1]) for entry in entries if entry]


def read_tidl(path, model):
    script = runpy.run_path(path)
    options = script['COMPILE_OPTIONS']
    check(f'{path}: the option', list(options) == ['advanced_options:output_feature_16bit_names_list'])
    names = re.split(r'[ ,]+', options['advanced_options:output_feature_16bit_names_list'])
    check(f'{path}: nothing parts a name', names == script['TENSORS'])
    return names


def read_espdl(path, model):
    table = []
    setting = types.SimpleNamespace(dispatching_table=types.SimpleNamespace(append=lambda name, to: table.append((name, to))))
    with stand_in(esp_ppq={}, esp_ppq__api={
            'QuantizationSettingFactory': types.SimpleNamespace(espdl_setting=lambda: setting),
            'get_target_platform': lambda target, bits: (target, bits)}):
        check(f'{path}: gives the setting', runpy.run_path(path)['make_setting']('esp32s3') is setting)
    check(f'{path}: 16 bits', {to for _, to in table} == {('esp32s3', 16)})
    return [name for name, _ in table]


def read_quark(path, model):
    return runpy.run_path(path)['NODES']


def read_plain(path, model):
    return [line.split('\t')[0] for line in open(path, encoding='utf-8').read().split('\n') if line]


# By tool: reader, what names are of, whether the network is the export.
READERS = {
    'Hailo Dataflow Compiler': (read_hailo, 'nodes', True), 'coremltools': (read_coreml, 'weights', False),
    'RKNN-Toolkit2': (read_rknn, 'results', False), 'TIDL': (read_tidl, 'results', False),
    'ESP-PPQ': (read_espdl, 'nodes', False), 'Quark': (read_quark, 'nodes', False), 'LiteRT': (read_plain, 'nodes', False),
}


# ---- networks ----

def make_odd(path):
    """Names that end strings, lines and lists, and a node without one."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(5)
    ends = ['a"b', 'line\nimport os', 'it\'s', 'back\\slash', 'c, d', '"""', '@MODEL@', 'ü€😀', '# x', '{}']
    nodes, weights, x = [], [], 'x'
    for i, name in enumerate(ends):
        weights += [numpy_helper.from_array(rng.normal(0, 0.4, (12, 12)).astype(np.float32), f'w{i} {name}'),
                    numpy_helper.from_array(rng.normal(0, 1, 12).astype(np.float32), f'b{i}')]
        nodes += [helper.make_node('Gemm', [x, f'w{i} {name}', f'b{i}'], [f'g{i}{name}'], name=f'gemm {name}'),
                  helper.make_node('Tanh', [f'g{i}{name}'], [f't{i}'])]
        x = f't{i}'
    graph = helper.make_graph(nodes, 'odd', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 12])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, 12])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def list_names(model, what):
    if what == 'weights':
        return {i.name for i in model.graph.initializer}
    return {name for node in model.graph.node for name in (node.output if what == 'results' else [node.name])}


# ---- runs ----

def quantize(cli, *args):
    result = subprocess.run([cli, 'quantize', *args, '--no-verify', '--json'], capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stderr)
    return json.loads(result.stdout)


def test_list(cli, network, data, target, folder, fits):
    """The list of a target for a network. `fits`: whether all names can be told."""
    import onnx

    path = os.path.join(folder, f'{target}-{os.path.basename(network)}')
    told = quantize(cli, network, '-o', path, '-d', data, '--target', target, '--origins')['sensitive_layers']
    what = f'{os.path.basename(network)} {target}'
    check(f'{what}: a reader', told['tool'] in READERS)
    reader, names_of, exported = READERS[told['tool']]
    shares = [layer['share'] for layer in told['layers']]
    chosen = [layer for layer in told['layers'] if layer['chosen']]
    listed = [layer['name'] for layer in (told['layers'] if reader is read_plain else chosen) if layer['name'] is not None]
    check(f'{what}: the worst first', shares == sorted(shares, reverse=True) and shares)
    check(f'{what}: half of the error', sum(layer['share'] for layer in chosen[:-1]) < 0.5 and
          (len(chosen) == len(shares) or sum(layer['share'] for layer in chosen) >= 0.5))
    model = onnx.load(path if exported else network)
    names = reader(told['file'], model)
    check(f'{what}: what was told is in the file', names == listed and len(names) > 0)
    check(f'{what}: each name is in the network', set(names) <= list_names(model, names_of))
    check(f'{what}: all have a name', not fits or len(listed) == len(told['layers'] if reader is read_plain else chosen))
    return chosen


def measure(network, other, feeds):
    import numpy as np

    a, b = oracle.open_session(network), oracle.open_session(other)
    signal = noise = 0
    for feed in feeds:
        for x, y in zip(a.run(None, feed), b.run(None, feed)):
            signal, noise = signal + np.square(x, dtype=np.float64).sum(), noise + np.square(x - y, dtype=np.float64).sum()
    return 10 * np.log10(signal / noise)


def test_choice(cli, network, data, chosen, feeds, folder):
    """What is left in float helps: more than as many others."""
    import onnx

    settings = ['--activation', 'uint8', '--weight', 'int8', '--per-tensor', '--minimum-real-range', '0.0001']
    others = [node.name for node in onnx.load(network).graph.node if node.op_type in ('Conv', 'Gemm', 'Add')]
    others = [name for name in others if name not in chosen][-len(chosen):]
    found = []
    for left in ([], chosen, others):
        path = os.path.join(folder, 'choice.onnx')
        quantize(cli, network, '-o', path, '-d', data, *settings, '--skip-compare', *[x for name in left for x in ('-x', name)])
        found.append(measure(network, path, feeds))
    print('SQNR with all quantized, with the listed nodes in float, with as many others so: '
          + ', '.join(f'{db:.1f} dB' for db in found))
    check('the choice helps', found[1] > found[0] + 1 and found[1] > found[2] + 1)


def test_coremltools(python, folder, weights):
    """A package with these weights, quantized by what was written: those of the list stay float, others do not."""
    code = '''
import sys
import numpy as np, coremltools as ct
from coremltools.converters.mil import Builder as mb
names, script, package = sys.argv[1].split('|'), sys.argv[2], sys.argv[3]
@mb.program(input_specs=[mb.TensorSpec(shape=(1, 64))], opset_version=ct.target.iOS16)
def program(x):
    for i, name in enumerate(names):
        w = np.random.default_rng(i).normal(size=(64, 64)).astype(np.float32)
        x = mb.linear(x=x, weight=mb.const(val=w, name=name), name=f'linear_{i}')
    return x
ct.convert(program, convert_to='mlprogram').save(package)
import runpy
runpy.run_path(script)['main'](package, package + '.out.mlpackage')
done = ct.models.MLModel(package + '.out.mlpackage', skip_model_load=True)
blocks = done.get_spec().mlProgram.functions['main'].block_specializations.values()
print('ops', *[out.name for block in blocks for op in block.operations for out in op.outputs])
'''
    made = [re.sub(r'\W', '_', name, flags=re.ASCII) for name in weights]
    result = subprocess.run([python, '-c', code, '|'.join([*made, 'other_weight']), os.path.join(folder, 'coreml-demo.coreml.py'),
                             os.path.join(folder, 'p.mlpackage')], capture_output=True, text=True)
    lines = [line for line in result.stdout.split('\n') if line.startswith('ops ')]
    check(f'coremltools: {result.stderr[-500:] if not lines else ""}', len(lines) == 1)
    ops = set(lines[0].split()) if lines else set()
    check('coremltools: the others are quantized', 'other_weight_to_fp16_quantized' in ops)
    check('coremltools: those are not', not any(name + '_to_fp16_quantized' in ops for name in made))


def main():
    oracle.use_oracle_python()
    import numpy as np

    cli, source = map(os.path.realpath, sys.argv[1:3])
    listed = json.loads(subprocess.run([cli, 'list', 'targets', '--json'], capture_output=True, text=True).stdout)
    targets = [row['id'] for row in listed['targets'] if row.get('layer_list') is not None]
    demo = os.path.join(source, 'data', 'demo', 'demo.onnx')
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(7)
        odd, odd_data, demo_data = (os.path.join(folder, name) for name in ('odd.onnx', 'odd', 'demo'))
        make_odd(odd)
        os.mkdir(odd_data)
        os.mkdir(demo_data)
        feeds = []
        for i in range(12):
            np.save(os.path.join(odd_data, f'{i}.npy'), rng.normal(size=(1, 12)).astype(np.float32))
            feeds.append({'image': rng.uniform(-1, 1, (1, 3, *oracle_size(demo))).astype(np.float32)})
            np.save(os.path.join(demo_data, f'{i}.npy'), feeds[-1]['image'])
        chosen = {}
        for target in targets:
            chosen[target] = test_list(cli, demo, demo_data, target, folder, True)
            if target == 'coreml' and os.environ.get('VN_COREML_PYTHON'):
                test_coremltools(os.environ['VN_COREML_PYTHON'], folder, [layer['name'] for layer in chosen[target]])
            test_list(cli, odd, odd_data, target, folder, False)
        check('targets: those of tools that quantize', {'hailo', 'coreml', 'rknn', 'tidl', 'esp-dl', 'amd-vaiml'} <= set(targets))
        test_choice(cli, demo, demo_data, [layer['name'] for layer in chosen['hailo']], feeds, folder)
    print(f'{compared} compared, {len(failures)} wrong')
    sys.exit(1 if failures or compared == 0 else 0)


def oracle_size(path):
    return oracle.open_session(path).get_inputs()[0].shape[2:]


if __name__ == '__main__':
    main()
