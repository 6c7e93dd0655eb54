#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""element_types.py OPERATOR_LIST ONNX_BACKEND [OPERATOR...]

Element types of the operators of ai.onnx. First the table: every type the standard gives to an input of any version from
opset 7 on must be in what our descriptor states, or below with a reason. Then every operator with every type: the
cases of the ONNX backend tests, turned into that type, are computed by onnxruntime, or where it has no kernel by the
reference implementation of ONNX, and by the engine. Exit 0, 1 or 77.
"""
import fnmatch
import os
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

OLDEST = 7
CASES = 2          # of each operator, input and type
MIN_PAIRS = 900
ORT_OPSET = 26

# (operator, input or None for all, types or None for all): why the standard's types are not taken
EXCEPTIONS = [
    (None, None, {'float6e2m3', 'float6e3m2'}, 'floats of 6 bits came with opset 28, which is not finished'),
    ('Col2Im', 0, {'string'}, 'sums of text do not exist'),
    ('QLinearMatMul', None, {'float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz'},
     'nobody multiplies codes of floats: they go through DequantizeLinear'),
]

# operators without descriptor
ABSENT = {'ImageDecoder': 'pictures are read by the window and the command line, not by networks'}

# (glob of cases, reason): where what evaluates is wrong, not the engine; and at the end the engine's own gaps
PEER_IS_WRONG = [
    ('test_batchnorm_*_T_double', 'the reference computes the factor with the type of the variance'),
    ('test_bitcast_*_T1_*int4', 'the reference takes codes of 4 bits for bytes'),
    ('test_bitcast_*_T1_*int2', 'the reference takes codes of 2 bits for bytes'),
    ('test_bitcast_*_T1_float4e2m1', 'the reference takes codes of 4 bits for bytes'),
    ('test_erf_T_double', 'the reference computes with few digits'),
    ('test_gelu_tanh_*_T_double', 'the constants of ONNX Runtime are float32'),
    ('test_gridsample*_T1_*int*', 'the reference truncates after each axis'),
    ('test_gridsample*_T1_bool', 'the reference mixes bools as if they were numbers'),
    ('test_gridsample*_T1_complex*', 'complex numbers are moved, not mixed'),
    ('test_gridsample*_T2_bfloat16', 'the reference computes positions in bfloat16'),
    ('test_group_normalization_*_T_double', 'stash_type: ONNX Runtime computes in float32'),
    ('test_hardswish*_T_double', 'the reference takes 1/6 from a float32'),
    ('test_maxunpool_export_with_output_shape_T1_float', 'ONNX Runtime fails the case itself, too'),
    ('test_maxunpool_export_with_output_shape_T1_float16', 'ONNX Runtime fails the case itself, too'),
    ('test_maxunpool_export_with_output_shape_T2_*', 'ONNX Runtime fails the case itself, too'),
    ('test_resize_*_nearest_T1_complex*', 'the reference drops the imaginary part'),
    ('test_resize_tf_crop_and_resize*_T2_float16', 'the reference computes positions in float16'),
    ('test_reduce_sum_*_T_int64_large', 'ONNX Runtime adds int64 as doubles'),
    ('test_scatternd_add_T_string', 'ONNX Runtime joins text; a sum of text is nothing the standard has'),
    ('test_attention_4d_T[12]_[!f]*', 'queries and values of different types have no kernel'),
    ('test_attention_4d_T[12]_float16', 'queries and values of different types have no kernel'),
    ('test_attention_4d_fp16_T[12]_*[!6]', 'queries and values of different types have no kernel'),
    ('test_attention_4d_fp16_T[12]_bfloat16', 'queries and values of different types have no kernel'),
    ('test_linear_attention_[dp]*_[ST]_*16', 'data and state of different types have no kernel'),
]


def why_not(op, index, kind):
    return next((why for o, i, kinds, why in EXCEPTIONS
                 if o in (None, op) and i in (None, index) and (kinds is None or kind in kinds)), None)


# ---- the table ----

def our_table(program):
    """{operator: [(since, until, [set of types per input], variadic)]}; None in the place of a set: not stated"""
    from onnx import TensorProto
    names = {TensorProto.DataType.Value(n): n.lower() for n in TensorProto.DataType.keys()}
    table = {}
    for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
        domain, op, since, until, *masks = line.split('\t')
        if domain == '':
            sets = [None if m == '-' else {names[b] for b in range(len(names)) if int(m, 16) >> b & 1} for m in masks]
            table.setdefault(op, []).append((int(since), int(until), sets))
    return table


def element_types(schema, kind):
    """Element types of a type variable or a type; containers are not counted."""
    allowed = next((c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == kind), [kind])
    return {t[7:-1] for t in allowed if t.startswith('tensor(')}


def versions(defs):
    """(schema, last opset it holds for) of ai.onnx"""
    by_name = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == '':
            by_name.setdefault(schema.name, []).append(schema)
    for name in sorted(by_name):
        known = sorted(by_name[name], key=lambda s: s.since_version)
        ends = [s.since_version - 1 for s in known[1:]] + [defs.onnx_opset_version()]
        yield from ((s, end) for s, end in zip(known, ends) if end >= OLDEST and not s.deprecated)


def check_table(table):
    from onnx import defs
    stated, missing = 0, []
    for schema, end in versions(defs):
        if not any(element_types(schema, p.type_str) for p in schema.inputs):
            continue
        first = max(schema.since_version, OLDEST)
        entry = next((sets for since, until, sets in table.get(schema.name, [])
                      if since <= first and (until == 0 or until >= end)), None)
        if entry is None and schema.name in ABSENT:
            continue
        if entry is None:
            missing.append('%s %d: no descriptor' % (schema.name, schema.since_version))
            continue
        for i, parameter in enumerate(schema.inputs):
            have = entry[i] if i < len(entry) else None
            wanted = {t for t in element_types(schema, parameter.type_str) if not why_not(schema.name, i, t)}
            lack = sorted(wanted - (have or set()))
            stated += len(wanted) - len(lack)
            if lack:
                missing.append('%s %d, input %d (%s): %s' % (schema.name, schema.since_version, i, parameter.name,
                                                             'nothing stated' if have is None else ' '.join(lack)))
    for line in missing:
        print('MISSING', line)
    print('%d types of inputs of all versions are stated, %d inputs lack some' % (stated, len(missing)))
    return not missing


# ---- cases ----

INTEGERS = {'uint8': (0, 255), 'int8': (-128, 127), 'uint16': (0, 65535), 'int16': (-32768, 32767),
            'uint32': (0, 2 ** 32 - 1), 'int32': (-2 ** 31, 2 ** 31 - 1), 'uint64': (0, 2 ** 64 - 1),
            'int64': (-2 ** 63, 2 ** 63 - 1), 'uint4': (0, 15), 'int4': (-8, 7), 'uint2': (0, 3), 'int2': (-2, 1)}


# Whole numbers of these must come out exactly, beyond what a double holds, and wrap.
EXACT = {'Abs', 'Add', 'BitwiseAnd', 'BitwiseNot', 'BitwiseOr', 'BitwiseXor', 'Clip', 'CumSum', 'Div', 'Equal', 'Gather',
         'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'MatMul', 'Max', 'Min', 'Mod', 'Mul', 'Neg', 'ReduceMax',
         'ReduceMin', 'ReduceSum', 'Relu', 'ScatterElements', 'ScatterND', 'Sign', 'Sub', 'Sum', 'TopK', 'Unique', 'Where'}


def converted(array, kind, op, index, large=False):
    """The values of a case as another type: small numbers, or large ones; no zero to divide by."""
    import numpy as np
    from onnx import TensorProto, helper
    number = TensorProto.DataType.Value(kind.upper())
    if array.dtype == object or array.dtype.kind in 'US':
        if kind == 'string':
            return array.astype(object)
        array = np.array([sum(map(ord, str(s))) % 7 for s in array.ravel()], np.int64).reshape(array.shape)
    if kind == 'string':
        return np.array([str(v) for v in array.ravel()], object).reshape(array.shape)
    if array.dtype.kind == 'c':
        array = array.real
    wide = np.asarray(array, np.float64)
    if kind == 'bool':
        return wide > 0
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        if array.dtype.kind in 'fV' and wide.size and np.max(np.abs(wide)) < 4:
            wide = wide * 5
        if low == 0:
            wide = np.abs(wide)
        wide = np.clip(np.nan_to_num(np.rint(wide)), max(low, -100), min(high, 100))
        if op in ('Div', 'Mod') and index == 1:
            wide = np.where(wide == 0, 3, wide)
        if op == 'Pow':
            wide = np.clip(wide, 0 if index == 1 or low == 0 else -3, 3)
        if op == 'BitShift' and index == 1:
            wide = np.clip(wide, 0, 6)
    if large:
        return np.array([int(v) * 2 ** 55 + int(v) for v in wide.ravel()], kind).reshape(wide.shape)
    if kind == 'float8e8m0':
        wide = np.abs(wide) + 0.25
    if kind.startswith('complex'):
        return (wide - 0.5j * wide).astype(kind)
    return wide.astype(np.float32 if 'float8' in kind or 'float4' in kind else np.float64).astype(
        helper.tensor_dtype_to_np_dtype(number))


class Variant:
    """A case of the backend tests with one type variable turned into another type."""

    def __init__(self, case, schema, node, kind, variable, large=False):
        from onnx import helper, TensorProto
        self.op, self.kind, self.name = schema.name, kind, '%s_%s_%s%s' % (case.name, variable, kind,
                                                                                        '_large' if large else '')
        graph = case.model.graph
        inputs, _ = case.data_sets[0]
        arrays = dict(zip((i.name for i in graph.input), inputs))
        self.arrays = {}
        for k, name in enumerate(node.input):
            parameter = schema.inputs[min(k, len(schema.inputs) - 1)]
            if name:
                self.arrays[name] = converted(arrays[name], kind, schema.name, k, large) if parameter.type_str == variable \
                    else arrays[name]
        types = {i.name: i.type.tensor_type.elem_type for i in list(graph.input) + list(graph.output)}
        self.outputs = []
        for k, name in enumerate(node.output):
            parameter = schema.outputs[min(k, len(schema.outputs) - 1)]
            if name:
                self.outputs.append((name, TensorProto.DataType.Value(kind.upper()) if parameter.type_str == variable
                                     else types[name]))
        self.node, self.model_of = node, case.model

    def graph(self, outputs, nodes=(), held=False):
        from onnx import helper, numpy_helper
        tensors = [numpy_helper.from_array(a, n) for n, a in self.arrays.items()]
        values = [] if held else [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in tensors]
        graph = helper.make_graph([self.node, *nodes], 'case', values,
                                  [helper.make_tensor_value_info(n, t, None) for n, t in outputs], tensors if held else [])
        model = helper.make_model(graph, opset_imports=self.model_of.opset_import)
        model.ir_version = 10 if held else self.model_of.ir_version
        return model

    def by_onnxruntime(self):
        """Everything is held by the model and what numpy does not know leaves as a float: no type is then in the way."""
        import numpy as np
        import onnxruntime
        from onnx import helper, TensorProto
        if any(o.domain == '' and o.version > ORT_OPSET for o in self.model_of.opset_import):
            raise ValueError('too new')
        plain = {getattr(TensorProto, n) for n in ('FLOAT', 'DOUBLE', 'FLOAT16', 'STRING', 'BOOL', 'INT8', 'INT16', 'INT32',
                                                   'INT64', 'UINT8', 'UINT16', 'UINT32', 'UINT64')}
        nodes = [helper.make_node('Cast', [n], [n + '_plain'], to=TensorProto.FLOAT) for n, t in self.outputs if t not in plain]
        outputs = [(n, t) if t in plain else (n + '_plain', TensorProto.FLOAT) for n, t in self.outputs]
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = oracle.open_session(self.graph(outputs, nodes, True), options)
        found = session.run(None, {})
        return [np.asarray(a) if t in plain else np.asarray(a).astype(helper.tensor_dtype_to_np_dtype(t))
                for a, (_, t) in zip(found, self.outputs)]

    def by_reference(self):
        import numpy as np
        from onnx import helper
        from onnx.reference import ReferenceEvaluator
        found = ReferenceEvaluator(self.graph(self.outputs)).run(None, dict(self.arrays))
        for array, (name, number) in zip(found, self.outputs):
            if not isinstance(array, (np.ndarray, np.generic)):
                raise ValueError('no tensor')
            if number != helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype):
                raise ValueError('%s is %s' % (name, array.dtype))
        return [np.asarray(a) for a in found]

    def write(self, folder):
        """A folder of the backend tests; FALSE if nobody can compute it."""
        from onnx import numpy_helper, save
        results, ways = None, [self.by_onnxruntime, self.by_reference]
        for evaluate in reversed(ways) if self.kind == 'string' else ways:   # ONNX Runtime loses text that a model holds
            try:
                results = [numpy_helper.from_array(a, n) for a, (n, _) in zip(evaluate(), self.outputs)]
                break
            except Exception:
                pass
        if results is None:
            return None
        data = os.path.join(folder, self.name, 'test_data_set_0')
        os.makedirs(data)
        save(self.graph(self.outputs), os.path.join(folder, self.name, 'model.onnx'))
        for kind, tensors in (('input', [numpy_helper.from_array(a, n) for n, a in self.arrays.items()]),
                              ('output', results)):
            for k, tensor in enumerate(tensors):
                with open(os.path.join(data, '%s_%d.pb' % (kind, k)), 'wb') as f:
                    f.write(tensor.SerializeToString())
        return evaluate.__name__[3:]


# The values of these decide what is computed, or they are drawn at random.
NOT_TURNED = {'RandomNormal', 'RandomNormalLike', 'RandomUniform', 'RandomUniformLike', 'Multinomial', 'Bernoulli', 'Constant',
              'ImageDecoder', 'If', 'Loop', 'Scan', 'SequenceMap', 'Dropout', 'TfIdfVectorizer'}


def variants(wanted):
    """Variants by (operator, variable, type)"""
    import numpy as np
    from onnx import defs
    from onnx.backend.test.case.node import collect_testcases
    found = {}
    for case in collect_testcases(None):
        graph = case.model.graph
        if len(graph.node) != 1 or graph.initializer or len(case.data_sets) != 1:
            continue
        node = graph.node[0]
        if node.domain or node.op_type in NOT_TURNED or (wanted and node.op_type not in wanted):
            continue
        schema = defs.get_schema(node.op_type, max(o.version for o in case.model.opset_import if o.domain == ''), '')
        inputs, _ = case.data_sets[0]
        if len(inputs) != len(graph.input) or not all(isinstance(a, (np.ndarray, np.generic)) for a in inputs):
            continue
        used = {schema.inputs[min(k, len(schema.inputs) - 1)].type_str for k, n in enumerate(node.input) if n}
        for variable in used:
            for kind in element_types(schema, variable):
                found.setdefault((node.op_type, variable, kind), []).append((case, schema, node))
    return found


def run_cases(program, wanted, work):
    folder, evaluated, nobody = os.path.join(work, 'cases'), {}, []
    os.makedirs(folder)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for (op, variable, kind), cases in sorted(variants(wanted).items()):
            if why_not(op, None, kind) or why_not(op, 0, kind):
                continue
            by, n = None, 0
            for case, schema, node in cases:
                try:
                    who = Variant(case, schema, node, kind, variable).write(folder)
                    if who and op in EXACT and kind in ('int64', 'uint64'):
                        Variant(case, schema, node, kind, variable, True).write(folder)
                except (TypeError, ValueError, KeyError, OverflowError, NotImplementedError):
                    who = None
                by, n = who or by, n + (who is not None)
                if n == CASES:
                    break
            if by is None:
                nobody.append('%s %s %s' % (op, variable, kind))
            else:
                evaluated[by] = evaluated.get(by, 0) + 1
    print('operators × types: %s' % ', '.join('%d by %s' % (n, who) for who, n in sorted(evaluated.items())))
    print('%d that nobody evaluates: %s' % (len(nobody), ', '.join(nobody)))
    expected = os.path.join(work, 'expected')
    names = os.listdir(folder)
    with open(expected, 'w') as f:
        for glob, why in PEER_IS_WRONG:
            for name in names:
                if fnmatch.fnmatch(name, glob):
                    f.write('%s: %s\n' % (name, why))
    done = subprocess.run([program, '--by-type', '--xfail', expected, folder])
    return done.returncode == 0 and (bool(wanted) or sum(evaluated.values()) >= MIN_PAIRS)


def main():
    oracle.use_oracle_python()
    wanted = sys.argv[3:]
    complete = bool(wanted) or check_table(our_table(sys.argv[1]))
    with tempfile.TemporaryDirectory() as work:
        same = run_cases(sys.argv[2], wanted, work)
    return 0 if complete and same else 1


if __name__ == '__main__':
    sys.exit(main())
