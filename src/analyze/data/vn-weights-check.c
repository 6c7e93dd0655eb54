/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights that are NaN or infinite: nothing that is measured on such a network says anything. */
#include "vn-weights-check.h"

#include "vn-i18n.h"
#include "vn-op.h"

#include <math.h>

#define MAX_STEPS 6       /* of what only moves or converts a constant on its way to who computes with it */

typedef struct
{
  VnNotes *notes;
  guint    n_found;
} Check;

/* Infinite constants are no fault as such: they mask, clip and pad. As weights they are. */
static gboolean
weights_check_is_weight (const VnValue *value,
                         guint          step)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);
      VnOpFamily family = vn_op_family (use->node);
      const VnValue *output = vn_node_get_output (use->node, 0);

      if (family == VN_FAMILY_COMPUTE || family == VN_FAMILY_POOL_NORM)
        return TRUE;
      if (step < MAX_STEPS && use->index == 0 && output != NULL &&
          (family == VN_FAMILY_SHAPE || family == VN_FAMILY_CONVERSION) && weights_check_is_weight (output, step + 1))
        return TRUE;
    }
  return FALSE;
}

static void
weights_check_value (Check         *self,
                     const VnValue *value)
{
  VnTensor *tensor = vn_value_get_constant (value);
  VnTensorFacts facts;

  if (tensor == NULL || vn_tensor_is_container (tensor) ||
      !(tensor->dtype == VN_DTYPE_F32 || tensor->dtype == VN_DTYPE_F64 || tensor->dtype == VN_DTYPE_F16 ||
        tensor->dtype == VN_DTYPE_BF16))
    return;
  vn_tensor_get_facts (tensor, &facts);
  if (facts.n_nan + facts.n_infinite == 0 || (facts.n_nan == 0 && !weights_check_is_weight (value, 0)))
    return;
  self->n_found++;
  vn_notes_add (self->notes, VN_NOTE_PROBLEM, VN_NOTE_WEIGHTS_NOT_FINITE, value->name,
                ngettext ("%zu of %zu weight value is NaN or infinite: fix it first",
                          "%zu of %zu weight values are NaN or infinite: fix them first", tensor->n_elements),
                          facts.n_nan + facts.n_infinite, tensor->n_elements);
}

static void
weights_check_graph (Check         *self,
                     const VnGraph *graph)
{
  for (guint i = 0; i < graph->values->len; i++)
    weights_check_value (self, g_ptr_array_index (graph->values, i));
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL)
            weights_check_graph (self, attr->graph);
          for (guint k = 0; attr->graphs != NULL && k < attr->graphs->len; k++)
            weights_check_graph (self, g_ptr_array_index (attr->graphs, k));
        }
    }
}

/**
 * vn_weights_check:
 * @notes: receives %VN_NOTE_WEIGHTS_NOT_FINITE for each constant with NaN, and for each weight with infinite values
 *
 * Looks through the constants of @model, those of its subgraphs, too.
 *
 * Returns: how many are not finite
 */
guint
vn_weights_check (const VnModel *model,
                  VnNotes       *notes)
{
  Check self = { .notes = notes };

  g_return_val_if_fail (model != NULL, 0);

  weights_check_graph (&self, model->graph);
  return self.n_found;
}
