/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a long computation stands, and how long its parts took. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnProgress:
 * @func: called from any thread, often; must be cheap and must not block
 * @data: its argument
 *
 * How a long computation tells where it stands. Passed by value or as a
 * nullable pointer; the callee never keeps it. What it is doing is known to the
 * caller, who has a title for it.
 */
typedef struct
{
  void   (*func) (gpointer     data,
                  const char  *unit,    /* translated, static: "samples"; may be NULL */
                  guint64      done,
                  guint64      total);  /* 0: unknown */
  gpointer data;
} VnProgress;

static inline void
vn_progress_report (const VnProgress *self,
                    const char       *unit,
                    guint64           done,
                    guint64           total)
{
  if (self != NULL && self->func != NULL)
    self->func (self->data, unit, done, total);
}

const VnProgress *vn_progress_swap_current   (const VnProgress *self);     /* nullable */
void              vn_progress_report_current (guint64           done,
                                              guint64           total);

/**
 * VnTiming: how long a part of a job took.
 * @id: "calibrate"
 * @title: N_(): "Calibrating"
 */
typedef struct
{
  const char *id;
  const char *title;
  double      seconds;   /* 0: it was not part of this run */
} VnTiming;

G_END_DECLS
