#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""text_models.py CLI SOURCE_DIR: models in protobuf's text format and in JSON, as the package of ONNX writes them: prepare makes
of each, byte for byte, what it makes of the encoded model. The table of fields is that of onnx.proto; what is damaged is refused
with line, column and field, and other tools' files with what they are and what to do."""
import os
import re
import subprocess
import sys
import tempfile

import oracle

NETWORKS = ('kws_micro_fp32', 'mnist_cntk_op8', 'aud_silero_vad_v6_if', 'kws_micro_qdq', 'mnist_rten_op18')
KINDS = ('S32', 'S64', 'U64', 'F32', 'F64', 'STRING', 'BYTES', 'ENUM', 'MESSAGE')
DAMAGED = (
    ('ir_version: 8\ngraph {\n  nodes { }\n}', 'line 3, column 3', 'GraphProto has no field “nodes”'),
    ('ir_version: 8 ir_version: 8', 'column 27', 'given twice'),
    ('ir_version: 99999999999999999999', 'column 13', 'integer'),
    ('graph { initializer { data_type: 4294967296 } }', 'data_type', 'too large'),
    ('graph { initializer { float_data: 1e99 } }', 'float_data', 'too large'),
    ('graph { initializer { raw_data: "\\q" } }', 'raw_data', 'escape sequence'),
    ('graph { name: "a\n" }', 'name', 'closing quote'),
    ('graph { node {', 'line 1, column 15', 'ends inside a message'),
    ('graph ' + '{ node { attribute { g ' * 200, 'nested', 'deep'),
    ('{"graph": {"node": 3}}', 'node', '“[” is missing'),
    ('{"irVersion": "8x"}', 'ir_version', 'integer'),
    ('{"graph": {"initializer": [{"rawData": "A*=="}]}}', 'column 42', 'base 64'),
    ('{"graph": {"name": "\\ud800"}}', 'name', 'escape sequence'),
    ('{"graph": {}', 'column 13', '“}” is missing'),
    ('{"graph": {}} 1', 'column 15', 'follows'),
)
OTHERS = ((b'PK\3\4' + bytes(26) + b'archive/data.pkl', 'torch.onnx.export'), (b'PK\3\4', 'unpack'),
          (b'\x80\2', 'torch.onnx.export'), (b'\x89HDF', 'tf2onnx'), (b'    TFL3', 'tf2onnx'), (b'    ORTM', '.ort'),
          (b'GGUF', 'Optimum'), (b'ftrt', 'TensorRT'), (b'<?xml version="1.0"?><net/>', 'OpenVINO'))
failures = []


def check(condition, *text):
    if not condition:
        failures.append(' '.join(str(t) for t in text))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'})
    return done.returncode, done.stderr


def every_field():
    """Values that are easily read wrong"""
    import onnx
    from onnx import TensorProto, helper
    tensors = [
        TensorProto(name='f', data_type=TensorProto.FLOAT, dims=[6],
                    float_data=[.1, -0.0, float('inf'), float('-inf'), float('nan'), 3.4028234663852886e38]),
        TensorProto(name='d', data_type=TensorProto.DOUBLE, dims=[3], double_data=[.1, 5e-324, -1.7976931348623157e308]),
        TensorProto(name='i', data_type=TensorProto.INT32, dims=[3], int32_data=[-1, -2**31, 2**31 - 1]),
        TensorProto(name='l', data_type=TensorProto.INT64, dims=[2], int64_data=[-2**63, 2**63 - 1]),
        TensorProto(name='u', data_type=TensorProto.UINT64, dims=[2], uint64_data=[0, 2**64 - 1]),
        TensorProto(name='s', data_type=TensorProto.STRING, dims=[3], string_data=[b'\0\xff"\\\'\n', b'', 'ü€😀'.encode()]),
        TensorProto(name='r', data_type=TensorProto.UINT8, dims=[256], raw_data=bytes(range(256)), doc_string='a\tb\x7f')]
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, ['ü', 3, None]))
    graph = helper.make_graph(
        [helper.make_node('Identity', [t.name], [t.name + '_out'], name='名 “😀”') for t in tensors] +
        [helper.make_node('Own', ['x'], ['y'], domain='example', a=.1, b=[1, -1], c=['x', 'ü'], d=-7, e=[.5, 1e-45],
                          t=tensors[2])], 'g',
        [helper.make_value_info('x', sequence), helper.make_value_info('o', helper.make_optional_type_proto(sequence)),
         helper.make_value_info('m', helper.make_map_type_proto(TensorProto.INT64, sequence))],
        [helper.make_value_info(t.name + '_out', helper.make_tensor_type_proto(t.data_type, t.dims)) for t in tensors], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17), helper.make_opsetid('example', 1)], ir_version=9)
    onnx.helper.set_model_props(model, {'key': 'line\nline', 'empty': ''})
    return model


def check_texts(cli, folder, name, model):
    from google.protobuf import json_format, text_format
    texts = {
        'onnxtxt': text_format.MessageToString(model),
        'textproto': '# a comment\n' + text_format.MessageToString(model, as_utf8=True, as_one_line=True,
                                                                     use_short_repeated_primitives=True),
        'pbtxt': text_format.MessageToString(model, pointy_brackets=True, use_short_repeated_primitives=True),
        'json': json_format.MessageToJson(model),
        'names.json': json_format.MessageToJson(model, preserving_proto_field_name=True, use_integers_for_enums=True,
                                                indent=None)}
    results = {}
    for ending, content in {'onnx': model.SerializeToString(), **{e: t.encode() for e, t in texts.items()}}.items():
        path, out = f'{folder}/{name}.{ending}', f'{folder}/{name}-{ending}-out.onnx'
        with open(path, 'wb') as file:
            file.write(content)
        code, said = run(cli, 'prepare', path, '-o', out, '--skip-optimization')
        check(code == 0, name, ending, said)
        if code == 0:
            with open(out, 'rb') as file:
                results[ending] = file.read()
    for ending in texts:
        check(len(results.get('onnx', b'')) > 0 and results.get(ending) == results['onnx'],
              name, ending, 'differs from the encoded model')


def check_table(root):
    import onnx
    from google.protobuf.descriptor import FieldDescriptor as F
    with open(os.path.join(root, 'src/onnx/vn-onnx-fields.def'), encoding='utf-8') as file:
        table = file.read()
    ours = set(re.findall(r'^TEXT_FIELD \((\w+), (\d+), (\w+), (\w+), (\w+), (\w+)\)', table, re.MULTILINE))
    kinds = dict(zip((F.TYPE_INT32, F.TYPE_INT64, F.TYPE_UINT64, F.TYPE_FLOAT, F.TYPE_DOUBLE, F.TYPE_STRING, F.TYPE_BYTES,
                      F.TYPE_ENUM, F.TYPE_MESSAGE), KINDS))
    theirs, todo, seen = set(), [onnx.ModelProto.DESCRIPTOR], set()
    while todo:
        message = todo.pop()
        if message.full_name in seen:
            continue
        seen.add(message.full_name)
        for field in message.fields:
            def shorten(d):
                return d.full_name.removeprefix('onnx.').replace('.', '_')
            many = field.is_repeated if hasattr(field, 'is_repeated') else field.label == F.LABEL_REPEATED
            packed = many and field.has_options and field.GetOptions().packed
            kind = (shorten(field.message_type) if field.message_type else field.enum_type.name if field.enum_type else 'NONE')
            theirs.add((shorten(message), str(field.number), field.name, kinds[field.type],
                        'PACKED' if packed else 'LIST' if many else 'ONE', kind))
            todo += [field.message_type] if field.message_type else []
    check(len(theirs) > 90 and not theirs - ours, 'the table lacks', sorted(theirs - ours))


def check_refused(cli, folder):
    path = f'{folder}/refused.bin'
    for content, *words in [(text.encode(), *words) for text, *words in DAMAGED] + list(OTHERS):
        with open(path, 'wb') as file:
            file.write(content)
        code, said = run(cli, 'inspect', path)
        check(code == 1 and all(word in said for word in words), content[:60], words, 'but', code, said)


def main():
    cli, root = sys.argv[1:]
    import onnx
    with tempfile.TemporaryDirectory() as folder:
        check_table(root)
        check_refused(cli, folder)
        check_texts(cli, folder, 'every_field', every_field())
        for name in NETWORKS:
            path = os.path.join(oracle.shared_folder(), 'models', name + '.onnx')
            check_texts(cli, folder, name, onnx.load(path))
    print('\n'.join(failures) or 'all as the encoded models')
    return 1 if failures else 0


oracle.use_oracle_python()
sys.exit(main())
