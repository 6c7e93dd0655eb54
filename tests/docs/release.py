#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""release.py CLI VERNIER|- SOURCE_DIR VERSION: the version is the same wherever it is told, and releases have notes.

meson.build, the newest release of the metainfo (with notes that say something), Debian's changelog, the catalogues, and what
--version of both programs prints, with build and instruction set; also with the set that VN_INSTRUCTION_SET chooses.
"""
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

LEVELS = ['x86-64-v4', 'x86-64-v3', 'generic', 'neon']
faults = []


def want(condition, complaint):
    if not condition:
        faults.append(complaint)


def ask_version(program, level=None):
    environment = {**os.environ, 'LANGUAGE': '', 'LC_ALL': 'C.UTF-8'}
    environment.pop('VN_INSTRUCTION_SET', None)
    if level:
        environment['VN_INSTRUCTION_SET'] = level
    return subprocess.run([program, '--version'], capture_output=True, text=True, check=True, env=environment).stdout.splitlines()


def check_program(program, name, version):
    lines = ask_version(program)
    want(lines[0] == f'{name} {version}', f'{name} --version says {lines[0]!r}')
    want(len(lines) == 3 and re.fullmatch(r'Build: (.+, )?(gcc|clang) [\d.]+ for \w+, optimization \w+', lines[1]),
         f'{name} --version: build: {lines[1:]}')
    best = re.fullmatch(r'Instruction set: (\S+)', lines[2])
    want(best and best[1] in LEVELS, f'{name} --version: {lines[2]}')
    want(best and best[1] == 'neon' or ask_version(program, 'generic')[2].startswith('Instruction set: generic'),
         f'{name} --version: not the set that was chosen')
    if best and best[1] not in ('generic', 'neon'):
        want(best[1] in ask_version(program, 'generic')[2], f'{name} --version: not the set of the processor')


def check_metainfo(source, version):
    releases = xml.parse(source / 'data' / 'io.github.vernier.Vernier.metainfo.xml.in').getroot().find('releases')
    newest = releases[0]
    want(newest.get('version') == version, f'metainfo: its newest release is {newest.get("version")}')
    dates = [one.get('date') for one in releases]
    want(dates == sorted(dates, reverse=True), f'metainfo: releases are not the newest first: {dates}')
    for one in releases:
        want(len(one.findall('description/ul/li')) >= 3, f'metainfo: {one.get("version")} has no notes')
    return newest.get('date')


def main():
    cli, vernier, source, version = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
    check_metainfo(source, version)
    first = (source / 'data' / 'debian' / 'changelog').read_text(encoding='utf-8').split('\n')[0]
    want(re.fullmatch(rf'vernier \({re.escape(version)}-\d+\) \w+; urgency=\w+', first), f'changelog: {first}')
    for catalogue in sorted((source / 'po').glob('*.po')):
        want(f'"Project-Id-Version: vernier {version}\\n"' in catalogue.read_text(encoding='utf-8'),
             f'{catalogue.name}: another version')
    check_program(cli, 'vernier-cli', version)
    if vernier != '-':
        check_program(vernier, 'vernier', version)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
