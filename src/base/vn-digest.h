/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnDigest: a fingerprint of a sequence of byte strings, to tell things apart that somebody may have mixed up. Fast, as
 * weights are gigabytes; no protection against people who want two things to have the same one. Start with { 0 }.
 */
typedef struct
{
  guint64 lanes[4];
} VnDigest;

void     vn_digest_add        (VnDigest       *self,
                               gconstpointer   data,
                               gsize           size);
void     vn_digest_add_string (VnDigest       *self,
                               const char     *text);    /* nullable: not the same as "" */
void     vn_digest_add_number (VnDigest       *self,
                               guint64         number);
guint64  vn_digest_get        (const VnDigest *self);
char    *vn_digest_dup_text   (const VnDigest *self);    /* 32 hexadecimal digits */

G_END_DECLS
