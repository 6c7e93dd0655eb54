/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of what was tried, and of other choices. */
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

static void
run_step_free_point (gpointer data)
{
  g_free (((VnCurvePoint *) data)->title);
  g_free (data);
}

/**
 * vn_curve_new:
 *
 * Returns: (transfer full) (element-type VnCurvePoint): a curve without points; whoever adds them goes from one end to the other
 */
GPtrArray *
vn_curve_new (void)
{
  return g_ptr_array_new_with_free_func (run_step_free_point);
}

/**
 * vn_curve_add:
 * @point: copied
 */
void
vn_curve_add (GPtrArray          *curve,
              const VnCurvePoint *point)
{
  VnCurvePoint *copy;

  g_return_if_fail (curve != NULL && point != NULL);

  copy = g_memdup2 (point, sizeof *point);
  copy->title = g_strdup (point->title);
  g_ptr_array_add (curve, copy);
}
