#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""shapes.py INFER_DUMP [--quick] [PATH...]

Compares our inference of types and sizes with onnx.shape_inference (with data propagation) on all networks of
$VN_SHARED/models and all ONNX backend cases, each as it is and once more without the types that the file declares.
Wherever onnx knows something, we must know the same: element type, rank, every size; where onnx has a name for a
size, we must have a number or an expression, the same one wherever onnx has the same name. Where we know more is
counted, and in the networks nobody, onnxruntime's symbolic inference neither, may know more than we do. Backend cases of
operators that we do not have are left out. --quick: networks of at most 200 nodes. Exit 0, 1 (a difference that is not listed, or
a listed one that is none), 77.
"""
import contextlib
import fnmatch
import glob
import logging
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

# Differences that are accepted: "file stem:value" as a pattern, and why. One that matches nothing must leave.
EXCEPTIONS = {
    # Split of 5 into 4 parts, in a branch that is never taken: onnx says 2, 2, 2, -1, onnxruntime and we 2, 2, 1, 0.
    'test_affine_grid_3d*_expanded*:*H_then': 'parts would add up to more than there is',
}
BACKEND = ['/usr/share/libonnx-testdata/data/*/*/model.onnx']
# What bodies of loops get, and what containers hold, is not followed into them: cases of these are left out.
UNFOLLOWED = ['Loop', 'Scan', 'Sequence*', '*Sequence', 'Optional*']
QUICK_NODES = 200
DTYPES = {}
FUNCTIONS = {'floor', 'min', 'max', 'ceiling', 'Min', 'Max'}


def dtype_name(number):
    from onnx import TensorProto
    if not DTYPES:
        special = {'FLOAT': 'float32', 'DOUBLE': 'float64'}
        for name, n in TensorProto.DataType.items():
            DTYPES[n] = special.get(name, name.lower())
    return DTYPES.get(number, '?')


def describe_type(type_proto):
    """(element type, dims or None); dims are numbers, names or '?'."""
    kind = type_proto.WhichOneof('value')
    if kind is None:
        return None
    if kind != 'tensor_type':
        return ('other', None)
    tensor = type_proto.tensor_type
    if not tensor.HasField('shape'):
        return (dtype_name(tensor.elem_type) if tensor.elem_type else '?', None)
    dims = [d.dim_value if d.HasField('dim_value') and d.dim_value >= 0 else d.dim_param or '?' for d in tensor.shape.dim]
    return (dtype_name(tensor.elem_type) if tensor.elem_type else '?', dims)


def collect(graph, place, found):
    """Files may declare values that nothing makes or uses: those are left out."""
    there = {i.name for i in graph.input} | {o for n in graph.node for o in n.output}
    for value in list(graph.input) + list(graph.output) + list(graph.value_info):
        described = describe_type(value.type)
        if described is not None and value.name in there:
            found[place, value.name] = described
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField('g'):
                collect(attribute.g, '%s%s/%s/' % (place, node.output[0] if node.output else '', attribute.name), found)
    return found


def onnx_infers(model):
    import onnx
    return collect(onnx.shape_inference.infer_shapes(model, data_prop=True, strict_mode=False).graph, '', {})


def strip(graph, outer):
    """Forgets what the file declares about everything but the inputs of the main graph."""
    del graph.value_info[:]
    for output in graph.output:
        if output.type.WhichOneof('value') == 'tensor_type':
            output.type.Clear()
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField('g'):
                strip(attribute.g, False)


def parse_dump(text):
    models, found = {}, None
    for line in text.split('\n'):
        fields = line.split('\t')
        if fields[0] == 'MODEL':
            found = models.setdefault(fields[1], {})
        elif fields[0] == 'WITHOUT' and len(fields) == 2:
            found['', ''] = fields[1]
        elif fields[0] == 'ERROR' and len(fields) == 2:
            models[next(reversed(models))] = fields[1]
        elif len(fields) >= 3:
            dims = None if len(fields) == 3 else [] if fields[3] == 'scalar' else \
                [int(d) if d.isdigit() else d for d in fields[3:]]
            found[fields[0], fields[1]] = (fields[2], dims)
    return models


class Counts:
    def __init__(self):
        self.values = self.onnx_dims = self.our_dims = self.onnx_names = self.our_names = self.more = 0


def compare_dims(ours, theirs, names, counts):
    """What is wrong, or None."""
    for axis, (a, b) in enumerate(zip(ours, theirs)):
        counts.onnx_dims += isinstance(b, int)
        counts.our_dims += isinstance(a, int)
        counts.onnx_names += isinstance(b, str) and b != '?'
        counts.our_names += isinstance(a, str) and a != '?'
        counts.more += isinstance(a, int) and not isinstance(b, int) or a != '?' and b == '?'
        if isinstance(b, int) and a != b:
            return 'dim %d is %s, not %s' % (axis, a, b)
        if isinstance(b, str) and b != '?':
            if a == '?':
                return 'dim %d has the name %s, which we do not know' % (axis, b)
            names.setdefault(b, set()).add(a)
    return None


def compare_value(ours, theirs, names, counts):
    if ours is None or ours[0] == '?' and theirs[0] != '?':
        return 'we know nothing, onnx %s' % (theirs,)
    if theirs[0] not in ('?', ours[0]):
        return 'is %s, not %s' % (ours[0], theirs[0])
    counts.values += 1
    if theirs[1] is None:
        counts.more += ours[1] is not None
        counts.our_dims += sum(isinstance(d, int) for d in ours[1] or [])
        counts.our_names += sum(isinstance(d, str) and d != '?' for d in ours[1] or [])
        return None
    if ours[1] is None:
        return 'has rank %d' % len(theirs[1])
    if len(ours[1]) != len(theirs[1]):
        return 'has %s, onnx says %s' % (ours[1], theirs[1])
    return compare_dims(ours[1], theirs[1], names, counts)


def compare_model(ours, theirs, counts):
    """[(place and name, what is wrong)]"""
    faults, names = [], {}
    if isinstance(ours, str):
        return [('', ours)]
    counts.more += len(set(ours) - set(theirs))
    for key, value in theirs.items():
        # A branch or body has names of its own.
        fault = compare_value(ours.get(key), value, names.setdefault(key[0], {}), counts)
        if fault is not None:
            faults.append((''.join(key), fault))
    for place, name, different in [(p, n, d) for p in names for n, d in names[p].items()]:
        if len(different) > 1:
            faults.append((place, '%s is at once %s' % (name, ' and '.join(map(str, sorted(map(str, different)))))))
    return faults


def input_names(found, graph):
    initializers = {i.name for i in graph.initializer}
    return {d for i in graph.input if i.name not in initializers and ('', i.name) in found
            for d in found['', i.name][1] or [] if isinstance(d, str)}


def is_explained(value, names):
    """Whether every size is a number or follows from named sizes of the inputs."""
    return value is not None and value[0] != '?' and value[1] is not None and all(
        isinstance(d, int) or d != '?' and set(re.findall(r'[A-Za-z_][\w./:]*', d)) - FUNCTIONS <= names for d in value[1])


def count_explained(found, graph):
    names = input_names(found, graph)
    return sum(is_explained(found.get(('', o)), names) for n in graph.node for o in n.output if o)


def ort_infers(path):
    import onnx
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
    with open(os.devnull, 'w') as null, contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
        try:
            return collect(SymbolicShapeInference.infer_shapes(onnx.load(path), auto_merge=True).graph, '', {})
        except Exception:
            return {}


def compare_reach(program, paths, work):
    """How many results of nodes have a shape that is known or follows from the inputs, for everybody; faults."""
    import onnx
    logging.disable(logging.ERROR)
    here = os.getcwd()
    found, totals, faults = run_dump(program, paths), [0, 0, 0, 0], 0
    for path in paths:
        model = onnx.load(path)
        if isinstance(found[path], str):
            continue
        os.chdir(work)    # onnxruntime leaves files behind
        reach = [count_explained(f, model.graph) for f in (found[path], onnx_infers(model), ort_infers(path))]
        os.chdir(here)
        n = sum(bool(o) for node in model.graph.node for o in node.output)
        totals = [a + b for a, b in zip(totals, [n] + reach)]
        if reach[0] < max(reach[1:]):
            faults += 1
            print('%s: of %d shapes we know %d, onnx %d, onnxruntime %d' % (label_of(path), n, *reach))
    print('of %d results of nodes, shapes that are known or follow from the inputs: we %d, onnx %d, onnxruntime %d'
          % tuple(totals))
    return faults + (totals[1] <= max(totals[2:]))


def find_models(folder, arguments):
    if arguments:
        return [p for a in arguments for p in sorted(glob.glob(a))]
    paths = glob.glob(os.path.join(folder, 'models', '*.onnx')) + glob.glob(os.path.join(folder, 'models', '*', '*.onnx'))
    paths = [p for p in sorted(paths) if '/broken/' not in p]
    for pattern in BACKEND:
        paths += sorted(glob.glob(pattern))
    return paths


def unpack_archives(folder, work):
    for archive in sorted(glob.glob(os.path.join(folder, 'onnx-tests', '*.tar.zst'))):
        subprocess.run(['tar', '--zstd', '-xf', archive, '-C', work])
    return sorted(glob.glob(os.path.join(work, '*', '**', 'model.onnx'), recursive=True))


def has_unfollowed(graph):
    # FlexAttention with graphs of its own is not computed.
    if any(n.op_type == 'FlexAttention' and any(a.HasField('g') for a in n.attribute) for n in graph.node):
        return True
    return any(fnmatch.fnmatchcase(n.op_type, p) for n in graph.node for p in UNFOLLOWED) or any(
        has_unfollowed(a.g) for n in graph.node for a in n.attribute if a.HasField('g'))


def label_of(path):
    parts = path.split('/')
    return parts[-2] if parts[-1] == 'model.onnx' or parts[-3:-1] == ['models'] else parts[-1][:-5]


def load(path):
    import onnx
    try:
        return onnx.load(path)
    except Exception:
        return None


def count_nodes(path):
    model = load(path)
    return len(model.graph.node) if model is not None else 0


def run_dump(program, paths):
    models = {}
    for i in range(0, len(paths), 200):
        done = subprocess.run([program] + paths[i:i + 200], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError('infer-dump fails: ' + done.stderr)
        models.update(parse_dump(done.stdout))
    return models


def compare_all(program, paths, work, stripped, counts):
    """[(label, value, fault)], number of models compared"""
    import onnx
    theirs, ours_at = {}, {}
    for i, path in enumerate(paths):
        model = load(path)
        if model is None or '/models/' not in path and has_unfollowed(model.graph):
            continue
        ours_at[path] = path
        if stripped:
            strip(model.graph, True)
            ours_at[path] = os.path.join(work, 'stripped-%d.onnx' % i)
            if os.path.getsize(path) < 1 << 16 or os.path.dirname(path).endswith('models'):
                onnx.save(model, ours_at[path])
            else:
                continue
        try:
            theirs[path] = onnx_infers(model)
        except Exception as e:
            print('onnx cannot infer %s: %s' % (path, str(e).splitlines()[0][:100]))
    found = run_dump(program, [ours_at[p] for p in theirs])
    faults = []
    for path in theirs:
        if '/models/' not in path and not isinstance(found[ours_at[path]], str) and ('', '') in found[ours_at[path]]:
            continue    # nobody can infer what an unknown operator does
        for value, fault in compare_model(found[ours_at[path]], theirs[path], counts):
            faults.append((label_of(path) + (' (stripped)' if stripped else ''), value, fault))
    return faults, len(theirs)


def main():
    oracle.use_oracle_python()
    folder, program = oracle.shared_folder(), sys.argv[1]
    arguments = [a for a in sys.argv[2:] if not a.startswith('--')]
    unused, bad, compared = set(EXCEPTIONS), 0, 0
    with tempfile.TemporaryDirectory() as work:
        paths = find_models(folder, arguments)
        if not arguments:
            paths += unpack_archives(folder, work)
        if '--quick' in sys.argv:
            paths = [p for p in paths if '/models/' not in p or count_nodes(p) <= QUICK_NODES]
        bad += compare_reach(program, [os.path.abspath(p) for p in paths if '/models/' in p], work)
        for stripped in (False, True):
            counts = Counts()
            faults, n = compare_all(program, paths, work, stripped, counts)
            compared += n
            for label, value, fault in faults:
                listed = [p for p in EXCEPTIONS if fnmatch.fnmatchcase('%s:%s' % (label, value), p)]
                unused -= set(listed)
                if not listed:
                    bad += 1
                    print('%s: %s: %s' % (label, value, fault))
            print('%s: %d models, %d values; sizes known: onnx %d, we %d; names: onnx %d, we %d; we know more in %d places'
                  % ('without declared types' if stripped else 'as they are', n, counts.values, counts.onnx_dims,
                     counts.our_dims, counts.onnx_names, counts.our_names, counts.more))
    for pattern in sorted(unused) if not arguments else []:
        print('listed as an exception, but nothing differs:', pattern)
        bad += 1
    print('%d differences' % bad)
    return 1 if bad or not compared else 0


if __name__ == '__main__':
    sys.exit(main())
