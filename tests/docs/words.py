#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""words.py CLI: every word of another quantizer is answered, and what the answer names exists."""
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


def main():
    cli = sys.argv[1]
    commands = {one['id']: {option['id'] for option in one['options']} for one in rows(cli, 'commands')}
    settings = {one['id']: one for one in rows(cli, 'settings')}
    known = {'preset': {one['id'] for one in rows(cli, 'presets')}, 'method': {one['id'] for one in rows(cli, 'methods')},
             'format': {one['id'] for one in rows(cli, 'formats')},
             'type': {name for one in rows(cli, 'types') for name in (one['id'], one.get('alias'))}}
    flags = {'preset': '--preset', 'method': '--method', 'format': '--format', 'type': '--activation'}
    words = rows(cli, 'words')
    for word in words:
        kind, here = word['kind'], word['here']
        if kind == 'option':
            check_options(cli, here, commands['quantize'], settings)
            asked = ['quantize', 'no.onnx', '-o', 'no', '--' + word['id'].lower().replace('_', '-')]
        elif kind == 'command':
            name, *rest = here.split()
            assert name in commands, here
            check_options(cli, ' '.join(rest), commands[name], settings)
            asked = [word['id']]
        else:
            assert here in known[kind], f'{word["id"]}: no {kind} {here}'
            asked = ['quantize', 'no.onnx', '-o', 'no', '-d', 'random', flags[kind], word['id']]
        assert here or word.get('remark'), word['id']
        done = run(cli, *asked)
        # A word that differs from ours in nothing but its case or "_" may as well be one of ours.
        same = word['id'].lower().replace('_', '-') == here.lstrip('-').split('=')[0]
        assert same or (done.returncode == 2 or kind not in ('option', 'command')), (asked, done.stderr)
        assert same or (here or word['remark']) in done.stderr, f'{asked}: {done.stderr}'
    assert len(words) > 100
    print(f'{len(words)} words')


main()
