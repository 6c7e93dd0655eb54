/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded damage to a file of a kind: to its bytes, or to what they say. */
#pragma once

#include "file-kinds.h"

/* Damages what the bytes say; FALSE, with nothing done, if they say nothing that is known. */
gboolean mutate_meaning (GByteArray     *bytes,
                         GRand          *rand,
                         const FileKind *kind);
/* One or the other. */
void     mutate_file    (GByteArray     *bytes,
                         GRand          *rand,
                         const FileKind *kind);
/* @bytes are JSON: members and elements that are left out, repeated, moved, replaced. */
gboolean mutate_json    (GByteArray     *bytes,
                         GRand          *rand);
