/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of what was tried. */
#include "vn-run-step.h"

static void
run_step_free (gpointer data)
{
  VnRunStep *self = data;

  g_free (self->title);
  g_free (self->outcome);
  g_free (self);
}

/**
 * vn_run_steps_new:
 *
 * Returns: (transfer full) (element-type VnRunStep): none yet
 */
GPtrArray *
vn_run_steps_new (void)
{
  return g_ptr_array_new_with_free_func (run_step_free);
}

/**
 * vn_run_steps_add:
 * @step: copied
 */
void
vn_run_steps_add (GPtrArray       *steps,
                  const VnRunStep *step)
{
  VnRunStep *copy;

  g_return_if_fail (steps != NULL && step != NULL);

  copy = g_memdup2 (step, sizeof *step);
  copy->title = g_strdup (step->title);
  copy->outcome = g_strdup (step->outcome);
  g_ptr_array_add (steps, copy);
}
