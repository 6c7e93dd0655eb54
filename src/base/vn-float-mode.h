/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How a thread treats subnormal numbers, those below the smallest normal one (1.18e-38 of float32). */

#include <glib.h>

G_BEGIN_DECLS

#if defined (__x86_64__)
#define VN_FLOAT_FLUSHES ((guint) 0x8040)      /* of MXCSR: flush to zero, denormals are zero */
#elif defined (__aarch64__)
#define VN_FLOAT_FLUSHES ((guint) 1 << 24)     /* of FPCR: FZ */
#else
#define VN_FLOAT_FLUSHES ((guint) 0)
#endif

static inline guint
vn_float_mode_read (void)
{
#if defined (__x86_64__)
  return __builtin_ia32_stmxcsr ();
#elif defined (__aarch64__)
  guint64 mode;

  __asm__ volatile ("mrs %0, fpcr" : "=r" (mode));
  return (guint) mode;
#else
  return 0;
#endif
}

/* What is computed before and after must not be moved across: memory is taken to change. */
static inline void
vn_float_mode_write (guint mode)
{
#if defined (__x86_64__)
  __asm__ volatile ("ldmxcsr %0" : : "m" (mode) : "memory");
#elif defined (__aarch64__)
  __asm__ volatile ("msr fpcr, %0" : : "r" ((guint64) mode) : "memory");
#else
  (void) mode;
#endif
}

/**
 * vn_float_mode_begin:
 * @flushes: whether subnormal numbers are 0 from here on, read or computed: some processors take a hundred times as long for
 *   them, and no result shows them
 *
 * Of this thread, and of those that vn_parallel_for() gives its work to. On processors that cannot do so nothing changes.
 *
 * Returns: for vn_float_mode_end()
 */
static inline guint
vn_float_mode_begin (gboolean flushes)
{
  const guint before = vn_float_mode_read (), mode = flushes ? before | VN_FLOAT_FLUSHES : before & ~VN_FLOAT_FLUSHES;

  if (mode != before)
    vn_float_mode_write (mode);
  return before;
}

/**
 * vn_float_mode_end:
 * @before: from vn_float_mode_begin(), of this thread
 */
static inline void
vn_float_mode_end (guint before)
{
  if (((vn_float_mode_read () ^ before) & VN_FLOAT_FLUSHES) != 0)
    vn_float_mode_write (before);
}

/**
 * vn_float_mode_flushes:
 *
 * Returns: whether this thread takes subnormal numbers for 0
 */
static inline gboolean
vn_float_mode_flushes (void)
{
  return (vn_float_mode_read () & VN_FLOAT_FLUSHES) != 0;
}

G_END_DECLS
