/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-edit.h"
#include "vn-plan.h"

#include <string.h>

/* Small networks made by hand for the tests of the engine. */

static inline VnNode *
add_node (VnModel     *model,
          const char  *op_type,    /* of ai.onnx, or “domain:type” */
          const char  *name,
          const char  *inputs,     /* names, separated by spaces; "-" is an omitted one */
          const char  *outputs)
{
  g_auto(GStrv) in = g_strsplit (inputs, " ", -1);
  g_auto(GStrv) out = g_strsplit (outputs, " ", -1);
  guint n_in = *inputs != '\0' ? g_strv_length (in) : 0, n_out = g_strv_length (out);
  g_autofree VnValue **in_values = g_new0 (VnValue *, n_in + 1);
  g_autofree VnValue **out_values = g_new0 (VnValue *, n_out + 1);
  const char *colon = strchr (op_type, ':');
  g_autofree char *domain = g_strndup (op_type, colon != NULL ? (gsize) (colon - op_type) : 0);

  for (guint i = 0; i < n_in; i++)
    {
      in_values[i] = g_str_equal (in[i], "-") ? NULL : vn_graph_find_value (model->graph, in[i]);
      if (in_values[i] == NULL && !g_str_equal (in[i], "-"))
        in_values[i] = vn_graph_add_value (model->graph, in[i], VN_DTYPE_UNDEFINED, NULL);
    }
  for (guint i = 0; i < n_out; i++)
    {
      out_values[i] = g_str_equal (out[i], "-") ? NULL : vn_graph_find_value (model->graph, out[i]);
      if (out_values[i] == NULL && !g_str_equal (out[i], "-"))
        out_values[i] = vn_graph_add_value (model->graph, out[i], VN_DTYPE_UNDEFINED, NULL);
    }
  return vn_graph_add_node (model->graph, name, domain, colon != NULL ? colon + 1 : op_type, in_values, n_in, out_values,
                            n_out);
}

static inline void
add_floats (VnModel     *model,
            const char  *name,
            VnShape      shape,
            float        first,
            float        step)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = first + step * (float) i;
  vn_graph_add_initializer (model->graph, name, tensor);
}

static inline void
add_code (VnModel    *model,
          const char *name,
          VnDType     dtype,
          int         code)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = vn_tensor_new (dtype, &VN_SHAPE_SCALAR, &error);

  g_assert_no_error (error);
  if (tensor->n_bytes == 1)
    *(gint8 *) tensor->data = (gint8) code;
  else
    *(gint16 *) tensor->data = (gint16) code;
  vn_graph_add_initializer (model->graph, name, tensor);
}

static inline void
add_ints (VnModel      *model,
          const char   *name,
          const gint64 *values,
          gint64        n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (n), values);

  vn_graph_add_initializer (model->graph, name, tensor);
}

static inline void
set_outputs (VnModel    *model,
             const char *names)
{
  g_auto(GStrv) list = g_strsplit (names, " ", -1);

  for (guint i = 0; list[i] != NULL; i++)
    vn_graph_set_output (model->graph, i, vn_graph_find_value (model->graph, list[i]));
}

/* Numbers of both signs, different for every seed. */
static inline VnTensor *
make_input (VnShape shape,
            guint   seed)
{
  g_autoptr(GError) error = NULL;
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &shape, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) ((int) ((i * 37 + seed * 11) % 41) - 20) / 8;
  return tensor;
}

/* Plans, runs once on one input and returns output 0. */
static inline VnTensor *
run_simple (VnModel              *model,
            const VnPlanOptions  *options,
            VnTensor             *input)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, options, NULL, &error);
  g_autoptr(VnRunner) runner = NULL;
  VnTensor *outputs[8] = { NULL };

  g_assert_no_error (error);
  runner = vn_runner_new (plan, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_plan_get_n_outputs (plan), <=, 8);
  vn_runner_run (runner, &input, outputs, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 1; i < 8; i++)
    g_clear_pointer (&outputs[i], vn_tensor_unref);
  return outputs[0];
}
