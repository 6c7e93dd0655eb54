#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""help.py CLI SOURCE_DIR: --help of every command.

No line is longer than 100 columns, every option is named by --help and explained by --help-all, the usage line has the
command behind the program, and every way to read the usage line is a command that works on the demo.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

COLUMNS = 100


def run(cli, *arguments, cwd=None):
    return subprocess.run([cli, *arguments], capture_output=True, text=True, cwd=cwd)


# ---- usage lines: WORD, ( | ), [ | ], "…" behind what may be repeated ----

def parse_words(tokens):
    """All ways to read a sequence, up to the closing bracket: lists of words."""
    alternatives, ways = [], [[]]
    while tokens and tokens[0] not in ')]':
        token = tokens.pop(0)
        if token == '|':
            alternatives += ways
            ways = [[]]
        elif token == '…':
            assert ways[0], 'nothing to repeat'
        elif token in '([':
            inner = parse_words(tokens)
            assert tokens and tokens.pop(0) == ')]'['(['.index(token)], 'brackets do not match'
            ways = [way + more for way in ways for more in inner + ([[]] if token == '[' else [])]
        else:
            ways = [way + [token] for way in ways]
    return alternatives + ways


def read_usage(usage):
    tokens = re.findall(r'[()\[\]|…]|[^\s()\[\]…]+', usage)
    ways = parse_words(tokens)
    assert not tokens, f'brackets do not match in {usage!r}'
    return ways


def fill_in(words, files):
    return [files.get(word, word) for word in words]


def make_files(cli, demo, folder):
    """What the names in usage lines stand for."""
    data = ['--data', f'{demo}/samples', '-n', '4', '--preprocess', 'minus-one-one']
    model = f'{demo}/demo.onnx'
    for arguments in (['calibrate', model, '-o', 'stats', '--table', 'ranges.json', *data],
                      ['quantize', model, '-o', 'quantized.onnx', '--save-project', 'demo.vernier', *data]):
        done = run(cli, *arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
    config = {'model_parameters': {'onnx_model': model, 'working_dir': folder},
              'calibration_parameters': {'input_parametres': [{
                  'input_name': 'image', 'mean_value': [127.5] * 3, 'std_value': [127.5] * 3,
                  'data_list_path': f'{folder}/list.txt'}]}}
    samples = sorted(os.path.join(root, name) for root, _, names in os.walk(f'{demo}/samples') for name in names)
    with open(f'{folder}/list.txt', 'w') as out:
        out.write('\n'.join(samples[:4]) + '\n')
    with open(f'{folder}/config.json', 'w') as out:
        json.dump(config, out)
    with open(f'{folder}/demo.vernier') as project:
        run_id = json.load(project)['runs'][0]['id']
    return {'ID': run_id, 'MODEL': model, 'FLOAT': model, 'QUANTIZED': 'quantized.onnx', 'PATH': f'{demo}/samples', 'DIR': 'out',
            'PROJECT': 'demo.vernier', 'CONFIG.json': 'config.json', 'TOPIC': 'presets', 'FILE': 'out.bin', 'NAME': 'Conv'}


INPUTS = {'--stats': 'stats', '--ranges': 'ranges.json'}   # options whose FILE is read


def check_usage(cli, command, files, folder):
    match = re.fullmatch(rf'vernier-cli {command["id"]}(?: (.*))? \[OPTION …\]', command['usage'])
    assert match, f'usage line of {command["id"]}: {command["usage"]!r}'
    names = {'--' + option['id'] for option in command['options']}
    names |= {'-' + option['letter'] for option in command['options'] if 'letter' in option}
    ways = read_usage(match[1] or '')
    for words in ways:
        unknown = [word for word in words if word.startswith('-') and word not in names]
        assert not unknown, f'{command["id"]}: the usage line names {unknown}, which are no options'
        arguments = fill_in(words, files)
        for i, word in enumerate(words[:-1]):
            if word in INPUTS:
                arguments[i + 1] = INPUTS[word]
        if command['id'] == 'benchmark':
            arguments += ['--repeat', '1']
        done = run(cli, command['id'], *arguments, *(['--samples=4'] if '--data' in words else []), cwd=folder)
        if command['id'] == 'verify' and done.returncode == 1 and not os.environ.get('VN_PYTHON'):
            assert 'onnxruntime' in done.stderr, done.stderr    # this machine has none: the message says what to do
        else:
            assert done.returncode == 0, f'{command["id"]} {" ".join(arguments)}: {done.stderr}'
        subprocess.run(['rm', '-rf', f'{folder}/out', f'{folder}/dump_results'], check=True)
    return len(ways)


def check_help(cli, command):
    for option, explained in (('--help', [o for o in command['options'] if o['common']]), ('--help-all', command['options'])):
        done = run(cli, command['id'], option)
        assert done.returncode == 0 and done.stderr == '', done.stderr
        lines = done.stdout.split('\n')
        assert re.sub(r'\s+', ' ', done.stdout).startswith(f'Usage: {command["usage"]} '), f'{command["id"]}: {lines[0]!r}'
        for line in lines:
            assert len(line) <= COLUMNS, f'{command["id"]} {option}: {len(line)} columns: {line}'
        for one in explained:
            assert re.search(rf'^  (-\w, )?--{one["id"]}(\[?=\S+)?( |$)', done.stdout, re.M), f'{option}: no {one["id"]}'
        for one in command['options']:
            assert re.search(rf'--{one["id"]}\b', done.stdout), f'{option} does not name {one["id"]}'
    common = [one for one in command['options'] if one['common']]
    assert len(common) <= 25, f'{command["id"]} --help explains {len(common)} options: choose a dozen'


def main():
    cli, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    commands = json.loads(run(cli, 'list', 'commands', '--json').stdout)['commands']
    n_options = n_ways = 0
    if os.environ.get('VN_ORACLE_PYTHON'):
        os.environ['VN_PYTHON'] = os.environ['VN_ORACLE_PYTHON']
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(cli, f'{source}/data/demo', folder)
        for command in commands:
            check_help(cli, command)
            n_ways += check_usage(cli, command, files, folder)
            n_options += len(command['options'])
    assert len(commands) > 5 and n_options > 100 and n_ways > len(commands)
    for line in run(cli, '--help').stdout.split('\n'):
        assert len(line) <= COLUMNS, line
    print(f'{len(commands)} commands, {n_options} options, {n_ways} ways to read the usage lines')


main()
