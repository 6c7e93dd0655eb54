/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs with the channels last, as cameras and TensorFlow deliver pictures: a Transpose behind each input that is a
 * picture with the channels first. */
#include "vn-rewrite-private.h"

static gboolean
nhwc_is_channels (gint64 dim)
{
  return dim == 1 || dim == 3 || dim == 4;
}

/* Why not; NULL: it can be done. */
static const char *
nhwc_find_obstacle (const VnValue *value)
{
  const VnShape *shape = vn_rewrite_get_shape (value);

  if (shape == NULL || shape->rank != 4)
    return _("it does not have four axes");
  if (!nhwc_is_channels (shape->dims[1]))
    return _("its second axis does not hold 1, 3 or 4 channels");
  if (nhwc_is_channels (shape->dims[3]) && shape->dims[3] > shape->dims[1])
    return _("its last axis may already hold the channels");
  return value->is_output ? _("it is also an output") : NULL;
}

static gboolean
nhwc_is_done (const VnValue *value)
{
  const VnNode *user = value->uses->len == 1 ? g_array_index (value->uses, VnUse, 0).node : NULL;
  gsize n;
  const gint64 *perm = user != NULL && vn_node_is (user, "Transpose") ? vn_node_get_ints (user, "perm", &n) : NULL;

  return perm != NULL && n == 4 && perm[0] == 0 && perm[1] == 3 && perm[2] == 1 && perm[3] == 2;
}

static void
nhwc_permute_type (VnType *type)
{
  const VnShape old = type->shape;
  char *names[4];

  for (int i = 0; i < 4; i++)
    names[i] = type->symbols[i];
  for (int i = 1; i < 4; i++)
    {
      int from = i == 3 ? 1 : i + 1;

      type->shape.dims[i] = old.dims[from];
      type->symbols[i] = names[from];
    }
  g_clear_pointer (&type->encoded, g_bytes_unref);
}

/* Sizes are given for the axes as they were: they become part of the model, and are not looked up again. */
static void
nhwc_take_given (VnPassContext *ctx,
                 VnValue       *value)
{
  const VnShape *given = ctx->input_shapes != NULL ? g_hash_table_lookup (ctx->input_shapes, value->name) : NULL;

  for (int d = 0; given != NULL && d < value->type.shape.rank && d < given->rank; d++)
    if (value->type.shape.dims[d] < 0 && given->dims[d] >= 0)
      {
        value->type.shape.dims[d] = given->dims[d];
        g_clear_pointer (&value->type.symbols[d], g_free);
      }
  if (given != NULL)
    g_hash_table_remove (ctx->input_shapes, value->name);
}

static void
nhwc_convert_input (VnPassContext *ctx,
                    VnValue       *value)
{
  VnGraph *graph = value->graph;
  g_autofree char *name = g_strdup_printf ("%s_nchw", value->name);
  VnNode *first = vn_graph_get_n_nodes (graph) > 0 ? vn_graph_get_node (graph, 0) : NULL;
  VnValue *inner;
  VnNode *node;
  g_autofree char *text = NULL;

  nhwc_take_given (ctx, value);
  inner = vn_graph_add_value (graph, name, value->type.dtype, &value->type.shape);
  vn_value_replace_uses (value, inner, NULL);
  node = vn_graph_insert_node (graph, first, NULL, "", "Transpose", &value, 1, &inner, 1);
  vn_node_set_ints (node, "perm", (const gint64[]) { 0, 3, 1, 2 }, 4);
  nhwc_permute_type (&value->type);
  vn_edit_log_note_same (ctx->log, value->name, inner->name);
  text = vn_type_to_string (&value->type);
  vn_edit_log_add (ctx->log, "set", value->name, inner->name, _("takes %s, channels last"), text);
}

static gboolean
nhwc_run (VnPassContext  *ctx,
          GError        **error)
{
  GPtrArray *inputs = ctx->model->graph->inputs;

  for (guint i = 0; i < inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (inputs, i);
      const char *obstacle = nhwc_find_obstacle (value);

      if (value->initializer != NULL || nhwc_is_done (value))
        continue;
      if (obstacle == NULL)
        nhwc_convert_input (ctx, value);
      else
        vn_notes_add (ctx->notes, VN_NOTE_WARNING, "not-nhwc", value->name, _("the input keeps its axes: %s"), obstacle);
    }
  return TRUE;
}

const VnPass vn_pass_nhwc_inputs = {
  .id = "nhwc-inputs",
  .title = N_("Channels last"),
  .summary = N_("Makes image inputs channels-last (NHWC), with a Transpose after each."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = nhwc_run,
};
