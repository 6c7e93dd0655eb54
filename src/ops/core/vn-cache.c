/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Caches of keys and values, by the names that all exporters give them: present.0.key or present_0, which comes back as
 * past_key_values.0.key or past_0. What quantizes them leaves the names of inputs and outputs alone. */
#include "vn-cache.h"

static gboolean
cache_has_name (const VnValue *value)
{
  return g_str_has_prefix (value->name, "present");
}

static gboolean
cache_comes_back (const VnGraph *graph)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    if (g_str_has_prefix (((const VnValue *) g_ptr_array_index (graph->inputs, i))->name, "past"))
      return TRUE;
  return FALSE;
}

/* Of floats, as far as is known. */
static gboolean
cache_stands_beside_answer (const VnGraph *graph)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const VnValue *output = g_ptr_array_index (graph->outputs, i);

      if (!cache_has_name (output) && output->type.kind == VN_TYPE_TENSOR &&
          (output->type.dtype == VN_DTYPE_UNDEFINED || vn_dtype_is_float (output->type.dtype)))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_value_is_cache:
 * @self: of the main graph
 *
 * Whatever is wrong with a cache shows in the answers that are computed from it. Weighed beside them, the caches, two of each
 * layer, would decide what a network is worth.
 *
 * Returns: whether it is an output that holds keys or values of attention for the next run, beside one that is an answer
 */
gboolean
vn_value_is_cache (const VnValue *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->is_output && cache_has_name (self) && self->graph->parent == NULL && cache_comes_back (self->graph) &&
         cache_stands_beside_answer (self->graph);
}
