#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make-op-docs.py FILE [PYTHON]: what ONNX says of its operators, for src/ops/core/vn-op-doc.c

Read from the package “onnx” of PYTHON (the present one, unless it is named), as Debian's python3-onnx. Where there is none,
FILE is empty: then only what the tables of operators know is shown.

One line each, its parts between tabs, escaped as g_strescape() does:
  source VERSION
  operator DOMAIN NAME SINCE deprecated|current
  text DESCRIPTION
  input|output NAME TYPE required|optional|variadic DESCRIPTION
  attribute NAME TYPE required|optional DEFAULT DESCRIPTION
  type NAME TYPES DESCRIPTION
"""
import os
import re
import subprocess
import sys
import textwrap


def flow(text):
    """Paragraphs as lines of their own; what is indented, or an item of a list, stays as it is."""
    text = re.sub(r'<br */?>', '\n', textwrap.dedent((text or '').strip('\n')))
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', re.sub(r'</?(?:i|b|dl|dt|dd|p|a)(?: [^>]*)?>', '', text))
    paragraphs, verbatim, fresh = [''], False, True
    for line in text.split('\n'):
        fence = line.strip().startswith('```')
        verbatim ^= fence
        if fence or not line.strip():
            paragraphs.append('')
        elif verbatim or re.match(r'\s{2,}|\s*[-*|] ', line) or not paragraphs[-1]:
            paragraphs[-1:] = [paragraphs[-1] + '\n' + line.rstrip()] if paragraphs[-1] else [line.rstrip()]
        else:
            paragraphs[-1] += ' ' + line.strip()
    return re.sub(r'[`*]{1,2}([^`*\n]+)[`*]{1,2}', r'\1', '\n\n'.join(p for p in paragraphs if p.strip()))


def escape(part):
    return str(part).replace('\\', '\\\\').replace('\t', ' ').replace('\n', '\\n').replace('"', '\\"')


def default(attribute):
    """As one would write it"""
    from onnx import helper
    value = attribute.default_value
    if value is None or not value.type:
        return ''
    value = helper.get_attribute_value(value)
    if isinstance(value, float):
        return f'{value:.7g}'
    texts = [v.decode() if isinstance(v, bytes) else str(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
    return ', '.join(texts)


def name(value):
    """Of an enumeration: Single, INTS"""
    return str(value).rpartition('.')[2]


def lines():
    import onnx
    from onnx import defs
    yield 'source', onnx.__version__
    kinds = {'Single': 'required', 'Optional': 'optional', 'Variadic': 'variadic'}
    schemas = {(s.domain, s.name, s.since_version): s for s in defs.get_all_schemas_with_history()}
    for (domain, operator, since), schema in sorted(schemas.items()):
        if domain.startswith('ai.onnx.preview'):
            continue
        yield 'operator', domain, operator, since, 'deprecated' if schema.deprecated else 'current'
        yield 'text', flow(schema.doc)
        for what, parameters in ('input', schema.inputs), ('output', schema.outputs):
            for p in parameters:
                kind = getattr(p, 'typeStr', None) or getattr(p, 'type_str', '')
                yield what, p.name, kind, kinds.get(name(p.option), 'required'), flow(p.description)
        for key, attribute in sorted(schema.attributes.items()):
            yield ('attribute', key, name(attribute.type).lower(), 'required' if attribute.required else 'optional',
                   default(attribute), flow(attribute.description))
        for t in schema.type_constraints:
            yield 'type', t.type_param_str, ', '.join(sorted(t.allowed_type_strs)), flow(t.description)


def main():
    path, python = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ''
    if python and os.path.realpath(python) != os.path.realpath(sys.executable):
        made = os.path.exists(python) and subprocess.run([python, __file__, path], check=False).returncode == 0
        if not made:
            open(path, 'w').close()
        return 0
    try:
        text = ''.join('\t'.join(escape(part) for part in line) + '\n' for line in lines())
    except ImportError:
        text = ''
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return 0


sys.exit(main())
