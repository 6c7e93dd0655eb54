/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-edit.h"
#include "vn-quant-write.h"
#include "vn-resolver.h"

#include <math.h>

/* Small networks made by hand, and statistics made by hand for them. */

typedef struct
{
  VnModel    *model;
  GHashTable *histograms;   /* name -> VnHistogram */
} Fixture;

static inline Fixture *
fixture_new (gint64 opset)
{
  Fixture *self = g_new0 (Fixture, 1);

  self->model = vn_model_new (8, opset);
  self->histograms = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) vn_histogram_free);
  return self;
}

static inline void
fixture_free (Fixture *self)
{
  vn_model_unref (self->model);
  g_hash_table_unref (self->histograms);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fixture, fixture_free)

static inline VnValue *
fixture_value (Fixture    *self,
               const char *name)
{
  VnValue *value;

  if (g_str_equal (name, "-"))
    return NULL;
  value = vn_graph_find_value (self->model->graph, name);
  return value != NULL ? value : vn_graph_add_value (self->model->graph, name, VN_DTYPE_UNDEFINED, NULL);
}

/* @inputs, @outputs: names separated by spaces, "-" where one is omitted. A name of "" makes a node without name. */
static inline VnNode *
fixture_node (Fixture    *self,
              const char *op_type,
              const char *name,
              const char *inputs,
              const char *outputs)
{
  g_auto(GStrv) in = g_strsplit (inputs, " ", -1);
  g_auto(GStrv) out = g_strsplit (outputs, " ", -1);
  guint n_in = g_strv_length (in), n_out = g_strv_length (out);
  g_autofree VnValue **in_values = g_new0 (VnValue *, n_in + 1);
  g_autofree VnValue **out_values = g_new0 (VnValue *, n_out + 1);

  for (guint i = 0; i < n_in; i++)
    in_values[i] = fixture_value (self, in[i]);
  for (guint i = 0; i < n_out; i++)
    out_values[i] = fixture_value (self, out[i]);
  return vn_graph_add_node (self->model->graph, *name != '\0' ? name : NULL, "", op_type,
                            in_values, n_in, out_values, n_out);
}

static inline void
fixture_input (Fixture    *self,
               const char *name,
               VnShape     shape)
{
  vn_graph_add_input (self->model->graph, name, VN_DTYPE_F32, &shape);
}

static inline void
fixture_output (Fixture    *self,
                const char *name)
{
  vn_graph_set_output (self->model->graph, self->model->graph->outputs->len,
                       vn_graph_find_value (self->model->graph, name));
}

/* Elements rise evenly from @first to @last. */
static inline VnTensor *
fixture_weight (Fixture    *self,
                const char *name,
                VnShape     shape,
                float       first,
                float       last)
{
  g_autoptr(GError) error = NULL;
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &shape, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = tensor->n_elements == 1 ? first
                                : first + (last - first) * (float) i / (float) (tensor->n_elements - 1);
  vn_graph_add_initializer (self->model->graph, name, tensor);
  vn_tensor_unref (tensor);
  return vn_graph_find_value (self->model->graph, name)->initializer;
}

static inline void
fixture_ints (Fixture      *self,
              const char   *name,
              const gint64 *values,
              gint64        n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (n), values);

  vn_graph_add_initializer (self->model->graph, name, tensor);
}

static inline void
fixture_observe (Fixture     *self,
                 const char  *name,
                 const float *values,
                 gsize        n)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  VnHistogram *histogram = vn_histogram_new ();

  vn_histogram_scan (histogram, scratch, values, n);
  g_hash_table_replace (self->histograms, g_strdup (name), histogram);
}

static inline void
fixture_range (Fixture    *self,
               const char *name,
               float       min,
               float       max)
{
  fixture_observe (self, name, (float[]) { min, max }, 2);
}

static inline const VnHistogram *
fixture_lookup (const char *name,
                gpointer    data)
{
  return g_hash_table_lookup (((Fixture *) data)->histograms, name);
}

/* Types of all values; a range of -1 .. 1 for every float tensor without one. */
static inline void
fixture_complete (Fixture *self)
{
  g_autoptr(GError) error = NULL;

  vn_model_infer_types (self->model, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < self->model->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->model->graph->values, i);

      if (value->initializer == NULL && value->type.dtype == VN_DTYPE_F32 &&
          !g_hash_table_contains (self->histograms, value->name))
        fixture_range (self, value->name, -1, 1);
    }
}

static inline VnQuantPlan *
fixture_resolve (Fixture         *self,
                 const VnRecipe  *recipe,
                 VnNotes         *notes,
                 GError         **error)
{
  return vn_quantize_resolve_with (self->model, recipe, fixture_lookup, self, notes, error);
}
