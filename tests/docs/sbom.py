#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sbom.py BUILD_DIR SOURCE_DIR VERSION: the list of contents that is installed (SPDX 2.3) is sound and tells all that is
installed.

What the specification demands of a document, a package, a file and a relationship is there; digests are those of the files that
“meson install” writes, and none of these is missing; libraries have licences; made again, it has the same bytes. SOURCE_DIR's
copyright file knows every file, says for each what its own SPDX line says, and has the text of each licence.
"""
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from install_tree import install

LICENCE = r'(GPL-3\.0-or-later|LGPL-2\.[01]-or-later|LGPL-2\.1-only OR MPL-1\.1|BSD-[23]-Clause(-Open-MPI)?|CC0-1\.0)'
DEMANDED = {
    'document': {'spdxVersion': r'SPDX-2\.3', 'dataLicense': r'CC0-1\.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': r'.+',
                 'documentNamespace': r'https?://[^#]+'},
    'package': {'SPDXID': r'SPDXRef-[A-Za-z0-9.-]+', 'name': r'.+', 'versionInfo': r'\d.*|unknown',
                'downloadLocation': r'NOASSERTION|https://.+',
                'licenseConcluded': f'NOASSERTION|{LICENCE}', 'licenseDeclared': LICENCE, 'copyrightText': r'.+'},
    'file': {'SPDXID': r'SPDXRef-[A-Za-z0-9.-]+', 'fileName': r'\./.+', 'licenseConcluded': LICENCE, 'copyrightText': r'.+'},
    'relationship': {'spdxElementId': 'SPDXRef-.+', 'relatedSpdxElement': 'SPDXRef-.+',
                     'relationshipType': 'DESCRIBES|CONTAINS|DYNAMIC_LINK|DEPENDS_ON'},
}
faults = []


def want(condition, complaint):
    if not condition:
        faults.append(complaint)


def check_fields(kind, thing):
    for key, pattern in DEMANDED[kind].items():
        want(isinstance(thing.get(key), str) and re.fullmatch(pattern, thing[key], re.S),
             f'{kind} {thing.get("name", thing.get("fileName"))}: {key} is {thing.get(key)!r}')


def check_document(document):
    check_fields('document', document)
    want(re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', document['creationInfo']['created']), 'no time of creation')
    want(all(re.match('(Tool|Organization|Person): .', one) for one in document['creationInfo']['creators']), 'no creators')
    for kind in ('package', 'file', 'relationship'):
        for thing in document[kind + 's']:
            check_fields(kind, thing)
    names = [thing['SPDXID'] for thing in [document] + document['packages'] + document['files']]
    want(len(names) == len(set(names)), 'an SPDXID is there twice')
    related = set()
    for one in document['relationships']:
        want(one['spdxElementId'] in names and one['relatedSpdxElement'] in names, f'relates what is not there: {one}')
        related.add(one['relatedSpdxElement'])
    want(related == set(names) - {'SPDXRef-DOCUMENT'}, f'related to nothing: {set(names) - related}')


def check_installed(document, build, work):
    """Against the files themselves."""
    root = install(build, work)
    programs = {'./' + one['packageFileName'] for one in document['packages'] if 'packageFileName' in one}
    there = {'./' + str(path.relative_to(root)): path for path in root.rglob('*') if path.is_file()}
    own = [place for place in there if place.endswith('.spdx.json')]
    want(len(own) == 1, f'installed as {own}')
    told = {file['fileName']: {one['algorithm']: one['checksumValue'] for one in file['checksums']} for file in document['files']}
    want(set(told) | programs | set(own) == set(there),
         f'told or installed, not both: {(set(told) | programs | set(own)) ^ set(there)}')
    for place in set(told) & set(there):
        data = there[place].read_bytes()
        want(told[place] == {'SHA1': hashlib.sha1(data).hexdigest(), 'SHA256': hashlib.sha256(data).hexdigest()},
             f'{place}: another digest')
    sums = sorted(sums['SHA1'] for sums in told.values())
    whole = document['packages'][0]
    want(whole['packageVerificationCode']['packageVerificationCodeValue'] == hashlib.sha1(''.join(sums).encode()).hexdigest(),
         'verification code')
    return len(there)


def check_again(build, source, version, maker, path, work):
    """The bytes do not depend on when, by whom and in what language it is made."""
    again = work / path.name
    environment = {**os.environ, 'TZ': 'Asia/Tokyo', 'LC_ALL': 'POSIX', 'PYTHONHASHSEED': '7'}
    subprocess.run([sys.executable, maker, build, source, version, again], check=True, env=environment)
    want(again.read_bytes() == path.read_bytes(), 'made again, it has other bytes')


def check_copyright(source, maker):
    """(files, those with an SPDX line)."""
    spec = importlib.util.spec_from_file_location('make_sbom', maker)
    sbom = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sbom)
    path = source / 'data' / 'debian' / 'copyright'
    rows, text = sbom.read_licences(path), path.read_text(encoding='utf-8')
    want(text.startswith('Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'),
         'copyright: not machine-readable')
    texts = set(re.findall(r'^License: *(\S+)\n .', text, re.M))
    used = set(re.findall(r'^License: *(\S+)$', text, re.M))
    want(used == texts, f'copyright: licences {used}, texts {texts}')
    files = [one for one in source.rglob('*') if one.is_file()
             and not re.match(r'(\.git|build[^/]*|_build[^/]*)(/|$)|.*__pycache__', str(one.relative_to(source)))]
    n_own = 0
    for one in files:
        own = re.search(rb'SPDX-License-Identifier: ([\w.+-]+)', b'\n'.join(one.read_bytes()[:500].split(b'\n')[:3]))
        said = sbom.find_licence(rows, str(one.relative_to(source)))[0]
        want(own is None or own[1].decode() == said,
             f'{one}: its own line says {own and own[1].decode()}, the copyright file {said}')
        n_own += own is not None
    for patterns, _, _ in rows:
        for pattern in patterns:
            want(any(sbom.fnmatch.fnmatchcase(str(one.relative_to(source)), pattern) for one in files),
                 f'copyright: no file is {pattern}')
    return len(files), n_own


def main():
    build, source, version = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    path, maker = build / 'data' / 'vernier.spdx.json', source / 'data' / 'make-sbom.py'
    document = json.loads(path.read_text(encoding='utf-8'))
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        check_document(document)
        n_installed = check_installed(document, build, work / 'installed')
        check_again(build, source, version, maker, path, work)
    n_files, n_own = check_copyright(source, maker)
    want(n_installed > 80 and n_files > 1000 and n_own > 900,
         f'{n_installed} installed, {n_files} files, {n_own} with a line: too few were compared')
    print(f'{n_installed} installed files, {len(document["packages"])} packages; {n_files} files of the source, '
          f'{n_own} with a licence of their own')
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
