/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Whether tests can limit the memory of a process. */

#include <glib.h>
#include <sys/resource.h>

/* QEMU does as if it limited addresses when it runs a program of another machine, and does not. */
static inline gboolean
memory_limit_holds (void)
{
  struct rlimit before, wanted, kept;

  g_assert_cmpint (getrlimit (RLIMIT_AS, &before), ==, 0);
  wanted = before;
  wanted.rlim_cur = MIN (before.rlim_cur, (rlim_t) 1 << 46);
  g_assert_cmpint (setrlimit (RLIMIT_AS, &wanted), ==, 0);
  g_assert_cmpint (getrlimit (RLIMIT_AS, &kept), ==, 0);
  g_assert_cmpint (setrlimit (RLIMIT_AS, &before), ==, 0);
  return kept.rlim_cur == wanted.rlim_cur;
}
