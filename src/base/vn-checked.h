/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Arithmetic on sizes that come from files. Each returns FALSE, and leaves
 * *out alone, when the result does not fit. */

static inline gboolean
vn_checked_mul (gsize  a,
                gsize  b,
                gsize *out)
{
  gsize r;

  if (__builtin_mul_overflow (a, b, &r))
    return FALSE;
  *out = r;
  return TRUE;
}

static inline gboolean
vn_checked_add (gsize  a,
                gsize  b,
                gsize *out)
{
  gsize r;

  if (__builtin_add_overflow (a, b, &r))
    return FALSE;
  *out = r;
  return TRUE;
}

static inline gboolean
vn_checked_mul_s64 (gint64  a,
                    gint64  b,
                    gint64 *out)
{
  gint64 r;

  if (__builtin_mul_overflow (a, b, &r))
    return FALSE;
  *out = r;
  return TRUE;
}

static inline gboolean
vn_checked_add_s64 (gint64  a,
                    gint64  b,
                    gint64 *out)
{
  gint64 r;

  if (__builtin_add_overflow (a, b, &r))
    return FALSE;
  *out = r;
  return TRUE;
}

G_END_DECLS
