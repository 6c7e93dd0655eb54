/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What was done to lower the error: steps that were tried. */

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnRunStep: one thing that was tried.
 * @title, @outcome: translated, what it was and what it came to
 * @kept: the network has it
 * @before_db, @after_db: signal to noise of the outputs; NaN: not measured
 */
typedef struct
{
  char     *title, *outcome;
  gboolean  kept;
  double    before_db, after_db;
} VnRunStep;

GPtrArray    *vn_run_steps_new   (void);    /* of VnRunStep */
void          vn_run_steps_add   (GPtrArray          *steps,
                                  const VnRunStep    *step);

G_END_DECLS
