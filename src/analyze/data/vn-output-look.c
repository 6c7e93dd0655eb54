/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much outputs change from sample to sample, against what they are: by the slices that change most, as boxes that start from
 * anchors, or the many places where nothing is found, hardly do. And, of a network that chooses among many classes, how many it
 * chooses. */
#include "vn-output-look.h"

#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

#define MOST_ELEMENTS ((gsize) 1 << 22)   /* of an output: larger ones are not looked at */
#define MOST_SLICES   128                 /* longer axes are places, not kinds of numbers, unless there is no other axis */

typedef struct
{
  VnShape  shape;
  guint    n_samples;
  gboolean is_mixed;       /* of several sizes */
  double  *sums, *squares; /* by element */
  GArray  *classes;        /* of gsize: the one that each sample is taken for; empty if the output is no distribution */
  double   confidence;     /* sum over the samples */
} Output;

struct _VnOutputLook
{
  guint   n;
  Output *outputs;
};

VnOutputLook *
vn_output_look_new (guint n_outputs)
{
  VnOutputLook *self = g_new0 (VnOutputLook, 1);

  self->n = n_outputs;
  self->outputs = g_new0 (Output, n_outputs + 1);
  for (guint i = 0; i < n_outputs; i++)
    self->outputs[i].classes = g_array_new (FALSE, FALSE, sizeof (gsize));
  return self;
}

void
vn_output_look_free (VnOutputLook *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n; i++)
    {
      g_free (self->outputs[i].sums);
      g_free (self->outputs[i].squares);
      g_array_unref (self->outputs[i].classes);
    }
  g_free (self->outputs);
  g_free (self);
}

/* Of a distribution over all its elements: what it is largest at. */
static void
output_look_add_class (Output       *self,
                       const float  *values,
                       gsize         n)
{
  double sum = 0;
  gsize best = 0;

  for (gsize i = 0; i < n; i++)
    {
      if (!(values[i] >= 0))
        return;
      sum += values[i];
      best = values[i] > values[best] ? i : best;
    }
  if (fabs (sum - 1) > 0.01)
    return;
  self->confidence += values[best];
  g_array_append_val (self->classes, best);
}

/**
 * vn_output_look_add:
 * @output: its number
 * @tensor: what one more sample has made of it
 */
void
vn_output_look_add (VnOutputLook   *self,
                    guint           output,
                    const VnTensor *tensor)
{
  Output *found;
  const float *values;

  g_return_if_fail (self != NULL && output < self->n && tensor != NULL);

  found = &self->outputs[output];
  if (tensor->dtype != VN_DTYPE_F32 || tensor->n_elements == 0 || tensor->n_elements > MOST_ELEMENTS)
    return;
  values = tensor->data;
  if (found->n_samples++ == 0)
    {
      found->shape = tensor->shape;
      found->sums = g_new0 (double, tensor->n_elements);
      found->squares = g_new0 (double, tensor->n_elements);
    }
  found->is_mixed |= !vn_shape_equal (&found->shape, &tensor->shape);
  if (found->is_mixed)
    return;
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      const double value = isfinite (values[i]) ? values[i] : 0;

      found->sums[i] += value;
      found->squares[i] += value * value;
    }
  output_look_add_class (found, values, tensor->n_elements);
}

/* Of slice @at of @n along an axis: the part of its energy that is not the same in all samples. */
static double
output_look_get_share (const Output *self,
                       gsize         outer,
                       gsize         n,
                       gsize         inner,
                       gsize         at)
{
  double energy = 0, constant = 0;

  for (gsize o = 0; o < outer; o++)
    for (gsize i = 0; i < inner; i++)
      {
        const gsize place = (o * n + at) * inner + i;

        energy += self->squares[place];
        constant += self->sums[place] * self->sums[place] / self->n_samples;
      }
  return energy > 0 ? fmax (1 - constant / energy, 0) : 0;
}

static double
output_look_get_most (const Output *self)
{
  double most = output_look_get_share (self, 1, 1, (gsize) vn_shape_count (&self->shape, 0, self->shape.rank), 0);

  for (int axis = 0; axis < self->shape.rank; axis++)
    {
      const gsize n = (gsize) self->shape.dims[axis], all = (gsize) vn_shape_count (&self->shape, 0, self->shape.rank);

      for (gsize at = 0; n > 1 && (n <= MOST_SLICES || n == all) && at < n; at++)
        most = fmax (most, output_look_get_share (self, (gsize) vn_shape_count (&self->shape, 0, axis), n,
                                                  (gsize) vn_shape_count (&self->shape, axis + 1, self->shape.rank), at));
    }
  return most;
}

/**
 * vn_output_look_get_reaction:
 *
 * Returns: which part of the energy of an output, or of a slice of it, changes with the samples: of the one that changes most; 0
 *   to 1, NaN where too few samples, or none of one size, have been seen
 */
double
vn_output_look_get_reaction (const VnOutputLook *self)
{
  double most = NAN;

  g_return_val_if_fail (self != NULL, NAN);

  for (guint i = 0; i < self->n; i++)
    {
      const Output *output = &self->outputs[i];

      if (output->n_samples > 0 && output->is_mixed)
        return NAN;
      if (output->n_samples >= VN_REACTION_FEWEST)
        most = fmax (output_look_get_most (output), isnan (most) ? 0 : most);
    }
  return most;
}

static guint
output_look_count_classes (const Output *self)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->classes->len; i++)
    g_hash_table_add (seen, GSIZE_TO_POINTER (g_array_index (self->classes, gsize, i)));
  return g_hash_table_size (seen);
}

static void
output_look_note_classes (const Output *self,
                          VnNotes      *notes)
{
  const guint n = self->classes->len, n_classes = output_look_count_classes (self);

  if (n < VN_CLASSES_SAMPLES || n < self->n_samples || self->is_mixed ||
      vn_shape_count (&self->shape, 0, self->shape.rank) < VN_CLASSES_FEWEST ||
      n_classes > VN_CLASSES_SHARE * n || self->confidence > VN_CLASSES_CONFIDENCE * n)
    return;
  vn_notes_add (notes, VN_NOTE_WARNING, "data-no-reaction", NULL,
                _("The float model takes %u samples for %u of its %llu classes, with %.0f %% of confidence on average"), n,
                n_classes, (unsigned long long) vn_shape_count (&self->shape, 0, self->shape.rank), 100 * self->confidence / n);
}

/**
 * vn_output_look_note:
 *
 * Tells where outputs hardly depend on the samples.
 */
void
vn_output_look_note (const VnOutputLook *self,
                     VnNotes            *notes)
{
  double reaction;

  g_return_if_fail (self != NULL);

  reaction = vn_output_look_get_reaction (self);
  if (reaction < VN_REACTION_LEAST)
    {
      vn_notes_add (notes, VN_NOTE_WARNING, "data-no-reaction", NULL,
                    _("The outputs of the float model hardly depend on the samples: %.1g of their energy changes from one to "
                      "the other"), reaction);
      return;
    }
  for (guint i = 0; i < self->n; i++)
    output_look_note_classes (&self->outputs[i], notes);
}
