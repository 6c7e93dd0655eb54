#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# messages.sh SOURCE_DIR
#
# xgettext drops a message that is put together with a macro, as in _("%" G_GSIZE_FORMAT " bytes"): it could never be
# translated. Sizes are %zu; 64-bit integers are cast to (long long) for %lld.
set -u
string='"(?:\\.|[^"\\])*"'
call='\b(?:_|N_|C_|NC_|Q_|ngettext|g_dngettext|g_dpgettext2?)'
pattern=$call' ?\((?:[^()"]|'$string'|\([^()]*\))*?G_[A-Z0-9]+_(?:FORMAT|MODIFIER)'

# find_lost FILE...: prints "file:line" of each message that is lost
find_lost () {
  perl -0777 -e 'my $p = shift; for my $f (@ARGV) { open my $h, "<", $f or die; my $s = <$h>;
    while ($s =~ /$p/g) { print "$f:", 1 + (substr ($s, 0, $-[0]) =~ tr/\n//), "\n" } }' "$pattern" "$@"
}

command -v perl >/dev/null || exit 77
sample=$(mktemp)
trap 'rm -f "$sample"' EXIT
cat >"$sample" <<'END'
f (_("%u of %s: %"
 G_GINT64_FORMAT), _("a"));
g (N_("b (%" G_GSIZE_FORMAT ")"));
h (_("c"), "%" G_GSIZE_FORMAT);
END
[ "$(find_lost "$sample" | sed 's/.*://' | tr '\n' ' ')" = "1 3 " ] || {
  echo "the test does not find what it is for"
  exit 1
}

mapfile -t files < <(find "$1/src" -name '*.[ch]' | sort)
lost=$(find_lost "${files[@]}") || exit 1
[ -z "$lost" ] && [ "${#files[@]}" -gt 0 ] && exit 0
echo "messages that xgettext cannot read (see above how to write them):"
echo "$lost"
exit 1
