#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tokenizers_files.py TOKEN_RUN

Plain text as numbers of tokens: for every form of tokenizer.json in a table, trained here on the texts below, our reader must
give the numbers that the library “tokenizers” gives, text by text, also of texts that it was not trained on. Forms
that we do not read must be refused, with the key. Skipped where that library is not there.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unicodedata

import oracle

# As real tokenizer.json files have them.
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"[一-龥ࠀ-一가-퟿]+"]
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
SCRIPTS = r"\p{Han}+|\p{Cyrillic}+|\d+|\w+|\P{L}"

TEXTS = [
    'The quick brown fox jumps over the lazy dog. It’s 3.14159, isn\'t it? I\'ll say: "WE\'RE HERE", they\'d \'Twas.',
    "Größere Füße, naïve café, Straße, İstanbul, ĐÀ NẴNG, œuvre, ŒUVRE, ſ and 'ſ, ﬁligree ﬀ Ⅷ ½ ² ③ Ⓐ",
    'Der Zug fährt um 12:30 Uhr ab; 1234567 Menschen — und 12345,67 €.', '今天天气很好。我们去公园吧！１２３４５ 第3章', 'これはテストです。カタカナとひらがな、漢字。',
    '안녕하세요 세계! 한국어 텍스트입니다.', 'Съешь же ещё этих мягких французских булок, да выпей чаю', 'مرحبا بالعالم ١٢٣ هذا نص',
    'שלום עולם', 'नमस्ते दुनिया १२३ हिन्दी', 'สวัสดีชาวโลก',
    '👩\u200d👩\u200d👧\u200d👦 👍🏽 🇩🇪 🏴\U000e0067\U000e0062\U000e007f ❤️ 😀😀😀 x😀y', 'é ạ̈ ọ̈ ́start q̣̇ Å ẛ̣ 각 한',
    '   leading', 'trailing   ', 'a  b   c    d     e', '\n\n\n', '\r\n\r\n  \r\n', ' ', 'x',
    '\t\ttabs\tand\t blanks \n \n  \n end',
    '\xa0nbsp\xa0\u2003em\u3000ideographic\u2028line\u2029par\x85nel\u180evowel\u200bzero\ufefffeff',
    'def f(x):\n    """doc"""\n    if x != 0x1F and y >= 1e-5:\n        return [i**2 for i in range(10)]  # comment\n\n\n',
    '#include <stdio.h>\nint main(void) { printf("%d\\n", 1 << 3); return 0; }\r\n',
    '{"a": [1, 2.5, null, true], "b": {"c": "\\u00e9"}}', '\x01\x02\x1b[31mred\x1b[0m \x7f \x1c\x1d\x1e\x1f \x0b\x0c end',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '==========----------______!!!!!!??..,,;;',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789',
    'camelCaseWord HTTPServer XMLHttpRequest iPhone15Pro v2.0.1-rc3', '▁already▁there ▁ and ▁▁ two',
    '<s>not a token</s> <|endoftext|>text<|endoftext|> <mask> a<mask>b  <mask>  c <SEP>x<sep>',
    '<|im_start|>user\nHi<|im_end|>\n',
    'word WORD wordword word-word word_word word. [strip]  [strip]x   [strip]\n\n[strip] Added ADDED added addedx',
    'https://example.org/a?b=c&d=e#f user@example.org $5.00 100% C++ C# .NET',
    '\u0378 unassigned \ue000 private \U0010ffff last', 'ǅ ǈ ᾈ Ǳ', 'ª º ʰ ˈ ̶s̶t̶r̶u̶c̶k̶ ⃝ ⁀ ‿ _',
]


def long_text():
    """All of them, in another order each time, with other things between."""
    parts = []
    for n in range(12):
        parts += [t + (' ', '\n', '', '  ', '\t', str(n * 37))[(n + k) % 6] for k, t in enumerate(TEXTS[n % 7:] + TEXTS[:n % 7])]
    return ''.join(parts)


def bpe(T, **options):
    return T.Tokenizer(T.models.BPE(**options))


def make_forms(T):
    """name -> (tokenizer, trainer), not trained yet."""
    n, p = T.normalizers, T.pre_tokenizers
    rx = T.Regex
    alphabet = p.ByteLevel.alphabet()
    special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
    bytes_ = ['<unk>', '<s>', '</s>'] + ['<0x%02X>' % b for b in range(256)]
    forms = {}

    def byte_level(name, pre, normalizer=None, size=700, added=special, **options):
        t = bpe(T, **options)
        t.pre_tokenizer = pre
        if normalizer is not None:
            t.normalizer = normalizer
        affixes = {k: v for k, v in options.items() if k in ('end_of_word_suffix', 'continuing_subword_prefix')}
        forms[name] = (t, T.trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, special_tokens=added,
                                                show_progress=False, **affixes))

    def split(pattern, behavior='isolated', invert=False):
        return p.Split(rx(pattern), behavior, invert)

    plain = p.ByteLevel(add_prefix_space=False, use_regex=False)
    byte_level('gpt2', p.ByteLevel(add_prefix_space=False))
    byte_level('gpt2, blank in front', p.ByteLevel(add_prefix_space=True))
    for name, pattern in (('gpt2 as split', GPT2), ('qwen2', QWEN2), ('llama3', LLAMA3), ('cl100k', CL100K), ('o200k', O200K)):
        byte_level(name, p.Sequence([split(pattern), plain]), n.NFC() if name == 'qwen2' else None)
    byte_level('llama3, ignore_merges', p.Sequence([split(LLAMA3), plain]), ignore_merges=True)
    byte_level('deepseek', p.Sequence([split(x) for x in DEEPSEEK] + [p.Digits(individual_digits=True), plain]))
    byte_level('starcoder', p.Sequence([p.Digits(individual_digits=True), p.ByteLevel(add_prefix_space=False)]))
    byte_level('clip', p.Sequence([split(CLIP, 'removed', True), p.ByteLevel(add_prefix_space=False)]),
               n.Sequence([n.NFC(), n.Replace(rx(r'\s+'), ' '), n.Lowercase()]), end_of_word_suffix='</w>')
    byte_level('scripts', p.Sequence([split(SCRIPTS), plain]))
    byte_level('no split', plain, size=900)
    for name in ('NFD', 'NFKC', 'NFKD', 'StripAccents', 'Lowercase', 'Strip'):
        byte_level('normalizer ' + name, p.ByteLevel(add_prefix_space=False), getattr(n, name)())
    byte_level('normalizers', p.ByteLevel(add_prefix_space=False),
               n.Sequence([n.NFKD(), n.Sequence([n.StripAccents(), n.Lowercase()]), n.Strip(left=True, right=False),
                           n.Replace('ss', 'ß')]))
    behaviors = 'removed', 'isolated', 'merged_with_previous', 'merged_with_next', 'contiguous'
    for behavior, invert in itertools.product(behaviors, (False, True)):
        byte_level(f'split {behavior} {invert}', p.Sequence([split(r'\d+|[aeiou]|\s', behavior, invert), plain]))
        byte_level(f'split text {behavior} {invert}', p.Sequence([p.Split('a', behavior, invert), plain]))
        if not invert:
            byte_level(f'punctuation {behavior}', p.Sequence([p.Punctuation(behavior), plain]))
    byte_level('digits together', p.Sequence([p.WhitespaceSplit(), p.Digits(individual_digits=False), plain]))
    byte_level('words', p.Sequence([p.Whitespace(), plain]))
    byte_level('delimiter', p.Sequence([p.CharDelimiterSplit('-'), plain]))
    byte_level('subword prefix', p.ByteLevel(add_prefix_space=False), continuing_subword_prefix='##')

    def pieces(name, normalizer, pre, model=None, trainer=None, **options):
        t = T.Tokenizer(model if model is not None else T.models.BPE(unk_token='<unk>', **options))
        t.normalizer, t.pre_tokenizer = normalizer or n.Sequence([]), pre or p.Sequence([])
        forms[name] = (t, trainer or T.trainers.BpeTrainer(vocab_size=900, special_tokens=bytes_, show_progress=False,
                                                           limit_alphabet=150))

    llama = n.Sequence([n.Prepend('▁'), n.Replace(' ', '▁')])
    for fallback, fuse in itertools.product((False, True), (False, True)):
        pieces(f'llama2, fallback {fallback}, fuse {fuse}', llama, None, byte_fallback=fallback, fuse_unk=fuse)
    pieces('gemma', n.Replace(' ', '▁'), p.Split(' ', 'merged_with_previous'), byte_fallback=True, fuse_unk=True)

    def unigram():
        return T.trainers.UnigramTrainer(vocab_size=700, unk_token='<unk>', special_tokens=['<unk>', '<s>', '</s>'],
                                         show_progress=False)

    for scheme, cut in itertools.product(('always', 'first', 'never'), (True, False)):
        pieces(f'metaspace {scheme} {cut}', None, p.Metaspace('▁', scheme, cut), fuse_unk=True)
        pieces(f'unigram metaspace {scheme} {cut}', n.NFKC(), p.Metaspace('▁', scheme, cut), T.models.Unigram(), unigram())
    pieces('t5', n.NFKC(), p.Sequence([p.WhitespaceSplit(), p.Metaspace('▁', 'always')]), T.models.Unigram(), unigram())
    return forms


def vary(T, name, text):
    """Other files of the same tokenizer: [(name, text of tokenizer.json)]."""
    root = json.loads(text)
    if root['model']['type'] == 'Unigram':
        # the library reads numbers of many digits with an error in the last place, which decides between cuts of equal score
        root['model']['vocab'] = [[piece, round(score * 1024) / 1024] for piece, score in root['model']['vocab']]
        text = json.dumps(root)
    yield name, text
    if root['model']['type'] == 'BPE' and name in ('gpt2', 'llama3', 'llama2, fallback True, fuse True'):
        old = json.loads(text)
        old['model']['merges'] = [' '.join(m) if isinstance(m, list) else m for m in old['model']['merges']]
        if all(m.count(' ') == 1 for m in old['model']['merges']):
            yield name + ', merges as texts', json.dumps(old)
        del old['model']['ignore_merges']
        yield name + ', without a key', json.dumps(old)
    if name == 'unigram metaspace always True':
        with_bytes = json.loads(text)
        with_bytes['model']['vocab'] += [['<0x%02X>' % b, -20.0 - b] for b in range(256)]
        with_bytes['model']['byte_fallback'] = True
        yield 'unigram with bytes', json.dumps(with_bytes)
    if name in ('gpt2', 'normalizer Lowercase'):
        for flags in itertools.product((False, True), repeat=4):
            t = T.Tokenizer.from_str(text)
            keys = dict(zip(('lstrip', 'rstrip', 'single_word', 'normalized'), flags))
            t.add_special_tokens([T.AddedToken('<mask>', **keys), T.AddedToken('[strip]', **keys)])
            t.add_tokens([T.AddedToken('Added', **keys), T.AddedToken('word', **keys), T.AddedToken('wordword', **keys),
                          T.AddedToken('Füße', **keys), T.AddedToken('  ', **keys)])
            yield f'{name}, added {keys}', t.to_str()
    if name in ('gpt2', 'gemma'):
        t = T.Tokenizer.from_str(text)
        first = '<|endoftext|>' if name == 'gpt2' else '<s>'
        last = '<|im_end|>' if name == 'gpt2' else '</s>'
        a, b = t.token_to_id(first), t.token_to_id(last)
        post = T.processors
        for label, single in (('first', f'{first} $A'), ('both', f'{first} $A:0 {last}'), ('last', f'$A {last} {last}')):
            t.post_processor = post.TemplateProcessing(single=single, pair='$A $B', special_tokens=[(first, a), (last, b)])
            yield f'{name}, {label}', t.to_str()
        t.post_processor = post.Sequence([post.ByteLevel(trim_offsets=False), t.post_processor])
        yield f'{name}, sequence', t.to_str()
        t.post_processor = post.RobertaProcessing((last, b), (first, a))
        yield f'{name}, roberta', t.to_str()
        t.post_processor = post.BertProcessing((last, b), (first, a))
        yield f'{name}, bert', t.to_str()
        t.enable_truncation(7)
        t.enable_padding(length=50)
        yield f'{name}, cut and filled', t.to_str()


# What is done to a good file -> what the message names.
REFUSED = [
    (lambda r: r['model'].update(type='WordPiece'), 'model.type'), (lambda r: r['model'].update(dropout=0.1), 'model.dropout'),
    (lambda r: r['model'].update(novel=1), 'model.novel'), (lambda r: r.update(novel=1), 'novel'),
    (lambda r: r.update(normalizer={'type': 'Precompiled', 'precompiled_charsmap': 'AAAA'}), 'normalizer.type'),
    (lambda r: r.update(normalizer={'type': 'NFC', 'novel': 1}), 'normalizer.novel'),
    (lambda r: r.update(pre_tokenizer={'type': 'UnicodeScripts'}), 'pre_tokenizer.type'),
    (lambda r: r.update(pre_tokenizer={'type': 'Sequence', 'pretokenizers': [{'type': 'Digits'}, {'type': 'What'}]}),
     'pre_tokenizer.pretokenizers[1].type'),
    (lambda r: r.update(post_processor={'type': 'What'}), 'post_processor.type'),
    (lambda r: r.update(pre_tokenizer={'type': 'Split', 'pattern': {'Regex': r'\bword'}, 'behavior': 'Isolated'}), r'\b'),
    (lambda r: r.update(pre_tokenizer={'type': 'Split', 'pattern': {'Regex': r'[\p{L}&&[^a]]'}, 'behavior': 'Isolated'}),
     '&&'),
    (lambda r: r.update(pre_tokenizer={'type': 'Split', 'pattern': {'Regex': 'a'}, 'behavior': 'Novel', 'invert': False}),
     'pre_tokenizer.behavior'),
    (lambda r: r['model']['merges'].append(['no', 'such piece']), 'model.merges'),
    (lambda r: r['model'].pop('vocab'), 'model.vocab'),
    (lambda r: r['model'].update(unk_token='none such'), 'model.unk_token'),
    (lambda r: r['added_tokens'][0].update(id=99), 'added_tokens[0].id'),
    (lambda r: r['added_tokens'][0].update(novel=1), 'added_tokens[0].novel'),
]


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8', newline='') as file:
        file.write(text)
    return path


def run(program, pairs):
    done = subprocess.run([program], input=''.join(f'{a}\t{b}\n' for a, b in pairs), capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == len(pairs), (done.returncode, len(lines), len(pairs), done.stderr)
    return lines


def main():
    try:
        import tokenizers as T
    except ImportError:
        oracle.skip('the Python package tokenizers is not there')

    program, faults, compared = sys.argv[1], [], 0
    with tempfile.TemporaryDirectory() as folder:
        texts = TEXTS + [long_text(), '', unicodedata.normalize('NFD', ''.join(TEXTS)), ' ' * 5000 + 'x' * 5000 + '\n' * 5000]
        paths = [write(folder, f'{i}.txt', t) for i, t in enumerate(texts)]
        good, pairs, expected, names = None, [], [], []
        for name, (tokenizer, trainer) in make_forms(T).items():
            tokenizer.train_from_iterator(TEXTS[::2] * 3, trainer)
            for variant, text in vary(T, name, tokenizer.to_str()):
                path = write(folder, f'{len(names)}.json', text)
                names.append(variant)
                good = good or json.loads(text)
                theirs = T.Tokenizer.from_str(text)
                theirs.no_truncation()
                theirs.no_padding()
                pairs += [(path, p) for p in paths]
                expected += [(variant, i, theirs.encode(t).ids) for i, t in enumerate(texts)]
        for (variant, i, ids), line in zip(expected, run(program, pairs)):
            ours = [int(x) for x in line.split()] if not line.startswith('error') else [line]
            compared += len(ids)
            if ours != ids:
                at = next((k for k, (x, y) in enumerate(zip(ours, ids)) if x != y), min(len(ours), len(ids)))
                faults.append(f'{variant}: text {i} {texts[i][:40]!r}, from {at}: {ours[at:at + 6]}, not {ids[at:at + 6]}')
        bad = []
        for change, word in REFUSED:
            root = json.loads(json.dumps(good))
            change(root)
            bad.append((write(folder, f'bad{len(bad)}.json', json.dumps(root)), paths[0]))
        for (path, _), (_, word), line in zip(bad, REFUSED, run(program, bad)):
            if not line.startswith('error') or word not in line or path not in line:
                faults.append(f'{word}: {line[:120]}')
    for fault in faults[:40]:
        print(fault)
    print(f'{len(names)} tokenizers, {len(texts)} texts, {compared} tokens compared, {len(REFUSED)} refused, '
          f'{len(faults)} faults')
    return 1 if faults or compared < 100000 or len(names) < 80 else 0


if __name__ == '__main__':
    oracle.use_oracle_python()
    sys.exit(main())
