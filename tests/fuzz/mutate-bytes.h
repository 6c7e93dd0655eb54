/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded damage to the bytes of a file. */
#pragma once

#include <glib.h>

/* Changes @bytes in one to five places: bits, bytes, what is cut off, left out, repeated; and if there are @words
 * (nullable), one of them put in, and numbers replaced by other ones. */
void mutate_bytes (GByteArray         *bytes,
                   GRand              *rand,
                   const char * const *words);
