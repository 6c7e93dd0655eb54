#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""costs.py BUILD_DIR [--stop-after SECONDS] [MESON TEST ARGUMENT...]: CPU seconds of each test, most expensive first, and their
sum. With --stop-after no program may take more CPU seconds than that: what costs much is not measured to its end.

Wall time depends on what else the machine does; CPU seconds (of the test and all that it starts and waits for) hardly.
"""

import collections
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile


def wrap(command):
    """Runs one test and appends its CPU seconds and command to the file $VN_COSTS."""
    if 'VN_COSTS_STOP' in os.environ:
        most = int(os.environ['VN_COSTS_STOP'])
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.environ['VN_COSTS'], 'a') as file:
        file.write(json.dumps([used.ru_utime + used.ru_stime, command_key(os.getcwd(), command)]) + '\n')
    return code if code >= 0 else 128 - code


def command_key(folder, command):
    """A command as both Meson's list of tests and a running test spell it: its words that are files, in full."""
    words = [os.path.join(folder, word) for word in command]
    return [os.path.normpath(word) if os.path.exists(word) else command[i] for i, word in enumerate(words)]


def main():
    if 'VN_COSTS' in os.environ:
        return wrap(sys.argv[1:])
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    build, *arguments = sys.argv[1:]
    stop = {}
    if arguments[:1] == ['--stop-after']:
        stop = {'VN_COSTS_STOP': arguments[1]}
        arguments = arguments[2:]
    with tempfile.NamedTemporaryFile('r', prefix='costs-', suffix='.tsv') as file:
        meson = '/usr/bin/meson' if os.path.exists('/usr/bin/meson') else shutil.which('meson')
        code = subprocess.call([meson, 'test', '-C', build, '--no-rebuild', '--wrapper', os.path.abspath(__file__), *arguments],
                               env={**os.environ, **stop, 'VN_COSTS': file.name})
        tests = json.loads(subprocess.check_output([meson, 'introspect', '--tests', build]))
        # some have the same name; those of the suite “long” may have the command of one before them
        names = {tuple(command_key(os.path.abspath(build), test['cmd'])):
                 f"{test['suite'][0].split(':')[-1]} / {test['name']}" for test in reversed(tests)}
        costs = collections.Counter()
        for seconds, command in map(json.loads, file):
            costs[names.get(tuple(command), ' '.join(command))] += seconds
    for name, seconds in costs.most_common():
        print(f'{seconds:8.2f}  {name}')
    print(f'{sum(costs.values()):8.2f}  all {len(costs)}')
    return code


if __name__ == '__main__':
    sys.exit(main())
