/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnProgress:
 * @func: called from any thread, often; must be cheap and must not block
 * @data: its argument
 *
 * How a long computation tells where it stands. Passed by value or as a
 * nullable pointer; the callee never keeps it.
 */
typedef struct
{
  void   (*func) (gpointer     data,
                  const char  *phase,   /* translated, static: "Calibrating" */
                  const char  *unit,    /* translated, static: "samples"; may be NULL */
                  guint64      done,
                  guint64      total);  /* 0: unknown */
  gpointer data;
} VnProgress;

static inline void
vn_progress_report (const VnProgress *self,
                    const char       *phase,
                    const char       *unit,
                    guint64           done,
                    guint64           total)
{
  if (self != NULL && self->func != NULL)
    self->func (self->data, phase, unit, done, total);
}

G_END_DECLS
