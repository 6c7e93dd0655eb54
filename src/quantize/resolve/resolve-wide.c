/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Of the matrices that would have fewer than 8 bits, those with 8 that gain most by it: by what their rounding alone does to the
 * outputs, measured on samples, for each of their numbers. */

#include "vn-resolver.h"

#include "vn-i18n.h"

#include <math.h>

typedef struct
{
  VnAnnotation *annotation;
  gsize         n_elements;
  double        gain;         /* noise for each number */
  guint         place;
} WideCandidate;

/* What a rule gives a type keeps it; the weights of experts share one. */
static gboolean
wide_may_choose (VnResolver         *self,
                 const VnValue      *value,
                 const VnAnnotation *annotation)
{
  return annotation->annotated && annotation->as_weight && !annotation->at_least_byte && !annotation->keep_float &&
         annotation->weight_rule < 0 && annotation->experts == NULL && value->initializer != NULL &&
         value->initializer->shape.rank >= 2;
}

/* @n_all: (out): numbers in matrices that may have more bits. Returns: (element-type WideCandidate): those of known noise */
static GArray *
wide_list (VnResolver *self,
           double     *n_all)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (WideCandidate));

  *n_all = 0;
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      WideCandidate found = { vn_resolver_get_annotation (self, value), 0, 0, i };
      double noise;

      if (!wide_may_choose (self, value, found.annotation))
        continue;
      found.n_elements = value->initializer->n_elements;
      *n_all += (double) found.n_elements;
      noise = vn_importance_get_noise (self->importance, value->name);
      found.gain = noise / (double) MAX (found.n_elements, 1);
      if (noise > 0)
        g_array_append_val (candidates, found);
    }
  return candidates;
}

static int
wide_compare (gconstpointer a,
              gconstpointer b)
{
  const WideCandidate *left = a, *right = b;

  if (left->gain != right->gain)
    return left->gain > right->gain ? -1 : 1;
  return left->place < right->place ? -1 : left->place > right->place;
}

/*< private >
 * vn_resolver_choose_wide:
 *
 * Once all is annotated, and rules are known: marks matrices for 8 bits, those that gain most for their size first, as long as
 * they hold no larger a share of the numbers than the recipe allows. Without measurements, none.
 */
void
vn_resolver_choose_wide (VnResolver *self)
{
  g_autoptr(GArray) candidates = NULL;
  double share, n_all, n_taken = 0;
  guint n_chosen = 0;

  g_return_if_fail (self != NULL);

  share = self->scheme.weights.wide_share;
  if (share <= 0 || self->importance == NULL || !vn_importance_has_noise (self->importance))
    return;
  candidates = wide_list (self, &n_all);
  g_array_sort (candidates, wide_compare);
  for (guint i = 0; i < candidates->len; i++)
    {
      WideCandidate *candidate = &g_array_index (candidates, WideCandidate, i);

      if (n_taken + (double) candidate->n_elements > share * n_all)
        continue;
      n_taken += (double) candidate->n_elements;
      candidate->annotation->at_least_byte = TRUE;
      n_chosen++;
    }
  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "wide-share", NULL,
                  ngettext ("%u of %u matrix has 8 bits, by “wide-share”: those whose rounding changes the outputs most",
                            "%u of %u matrices have 8 bits, by “wide-share”: those whose rounding changes the outputs most",
                            candidates->len), n_chosen, candidates->len);
}
