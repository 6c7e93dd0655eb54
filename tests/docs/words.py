#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""words.py CLI: every word of another quantizer is taken for something that exists here, with a value of the kind it has there;
what cannot be had is refused, with the reason."""
import json
import subprocess
import sys


def run(cli, *arguments):
    return subprocess.run([cli, *arguments], capture_output=True, text=True)


def rows(cli, topic):
    return json.loads(run(cli, 'list', topic, '--json').stdout)[topic]


def values_of(cli, settings, setting):
    """What may stand behind an option, as far as a table says it; None: anything."""
    row = settings.get(setting, {})
    if 'choices' in row:
        return row['choices']
    if row.get('type') == 'switch':
        return ['true', 'false']
    topic = {'preset': 'presets', 'method': 'methods', 'weight-method': 'methods', 'passes': 'passes'}.get(setting)
    return [one['id'] for one in rows(cli, topic)] if topic else None


def check_options(cli, text, options, settings):
    for part in text.split():
        name, _, value = part.partition('=')
        assert name.startswith('--') and name[2:] in options, f'{text}: no option {name}'
        allowed = values_of(cli, settings, name[2:])
        assert not value or allowed is None or value in allowed, f'{text}: {value} is none of {allowed}'


def give_value(settings, options, here):
    """A value that such a word has with the other tool."""
    name, _, value = here.partition('=')
    row = settings.get(name[2:], {})
    if value or ' ' in here or (here and not row and not options[name[2:]].get('argument')):
        return 'True'
    if not row:
        plain = {'N': '1', 'A,B,C': '1', 'rgb|bgr': 'rgb', 'PATH': 'random', 'NAME|FILE.py:FUNCTION': 'imagenet',
                 'NAME|GLOB|type:OP': '["type:Conv"]'}
        return plain.get(options.get(name[2:], {}).get('argument'), '{}')
    own = {'channel-axes': '{"MatMul": 1}', 'method': 'CalibrationMethod.MinMax', 'passes': '["none"]',
           'fuse': '["Conv+Relu"]', 'npu-rules': '["none"]', 'train': 'adaround'}
    if name[2:] in own:
        return own[name[2:]]
    default = row.get('default')
    given = {'switch': 'False', 'integer': default, 'number': default, 'list': '["Conv"]', 'type': 'QuantType.QInt8'}
    return row['choices'][0] if 'choices' in row else given.get(row.get('type'), '{}')


def ask(cli, commands, settings, word, flags):
    """What the command says to the word, about a network that is not there."""
    kind, here = word['kind'], word.get('here', '')
    usual = ['-o', 'no', '-d', 'random', '--method', 'PowerOfTwoMethod.MinMSE', '--symmetric']
    if kind == 'command':
        return run(cli, word['id'], 'no.onnx', '-o', 'no')
    if kind != 'option':
        assert here.split()[0] in flags[kind][1], f'{word["id"]}: no {kind} {here}'
        check_options(cli, ' '.join(here.split()[1:]), commands['quantize'], settings)
        return run(cli, 'quantize', 'no.onnx', *usual, flags[kind][0], word['id'])
    names = {part.split('=')[0][2:] for part in here.split()}
    owner = next((name for name in ('quantize', 'prepare', 'dump') if names <= commands[name].keys()), None)
    assert owner, f'{word["id"]}: no command has {here}'
    check_options(cli, here, commands[owner], settings)
    value = give_value(settings, commands[owner], here)
    return run(cli, owner, 'no.onnx', *usual[:None if owner == 'quantize' else 2], f'--{word["id"]}={value}')


def main():
    cli = sys.argv[1]
    commands = {one['id']: {option['id']: option for option in one['options']} for one in rows(cli, 'commands')}
    settings = {one['id']: one for one in rows(cli, 'settings')}
    flags = {'preset': ('--preset', {one['id'] for one in rows(cli, 'presets')}),
             'method': ('--method', {one['id'] for one in rows(cli, 'methods')}),
             'format': ('--format', {one['id'] for one in rows(cli, 'formats')}),
             'type': ('--activation', {name for one in rows(cli, 'types') for name in (one['id'], one.get('alias'))})}
    words = rows(cli, 'words')
    taken = refused = 0
    for word in words:
        done = ask(cli, commands, settings, word, flags)
        if 'here' in word:
            taken += 1
            if word['kind'] in ('type', 'format', 'command'):   # not all goes with the rest that is said
                assert f'“{word["id"]}”' not in done.stderr, (word, done.stderr)
            else:
                assert done.returncode == 1 and 'no.onnx' in done.stderr, (word, done.stderr)
        else:
            refused += 1
            assert done.returncode == 2 and word['remark'] in done.stderr, (word, done.stderr)
    print(f'{taken} words taken, {refused} refused')
    assert taken > 150 and refused > 0


main()
