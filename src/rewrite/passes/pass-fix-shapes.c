/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes that the caller gives become part of the file: of the inputs, of all inputs that call a size by the same name, and
 * of what follows from them. */
#include "vn-rewrite-private.h"

/* Sizes by the names that inputs have for them; of the first that gives one. */
static GHashTable *
fix_shapes_collect_names (VnPassContext *ctx)
{
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const GPtrArray *inputs = ctx->model->graph->inputs;

  for (guint i = 0; i < inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (inputs, i);
      const VnShape *given = g_hash_table_lookup (ctx->input_shapes, value->name);

      for (int d = 0; given != NULL && d < value->type.shape.rank && d < given->rank; d++)
        if (value->type.symbols[d] != NULL && given->dims[d] >= 0 &&
            !g_hash_table_contains (names, value->type.symbols[d]))
          g_hash_table_insert (names, g_strdup (value->type.symbols[d]),
                               g_memdup2 (&given->dims[d], sizeof given->dims[d]));
    }
  return names;
}

static gboolean
fix_dim (VnValue       *value,
         int            d,
         const VnShape *given,
         GHashTable    *names)
{
  VnType *type = &value->type;
  const gint64 *size = type->symbols[d] != NULL ? g_hash_table_lookup (names, type->symbols[d]) : NULL;

  if (type->shape.dims[d] >= 0)
    return FALSE;
  if (given != NULL && given->rank == type->shape.rank && given->dims[d] >= 0)
    type->shape.dims[d] = given->dims[d];
  else if (size != NULL)
    type->shape.dims[d] = *size;
  else
    return FALSE;
  g_clear_pointer (&type->symbols[d], g_free);
  g_clear_pointer (&type->encoded, g_bytes_unref);
  return TRUE;
}

static void
fix_input (VnPassContext *ctx,
           VnValue       *value,
           GHashTable    *names)
{
  const VnShape *given = g_hash_table_lookup (ctx->input_shapes, value->name);
  gboolean changed = FALSE, open = FALSE;
  g_autofree char *text = NULL;

  if (value->type.kind == VN_TYPE_TENSOR && value->type.shape.rank < 0 && given != NULL)
    {
      vn_value_set_type (value, value->type.dtype, given);
      changed = TRUE;
    }
  for (int d = 0; value->type.kind == VN_TYPE_TENSOR && d < value->type.shape.rank; d++)
    {
      changed = fix_dim (value, d, given, names) || changed;
      open = open || value->type.shape.dims[d] < 0;
    }
  text = vn_type_to_string (&value->type);
  if (changed)
    vn_edit_log_add (ctx->log, "set", value->name, NULL, _("the input is %s"), text);
  if (open)
    vn_notes_add (ctx->notes, VN_NOTE_WARNING, "open-size", value->name, _("input dimensions remain dynamic: %s"), text);
}

/* Sizes of results that the file calls by such a name. */
static void
fix_declared (VnGraph    *graph,
              GHashTable *names)
{
  for (guint i = 0; i < graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i);

      for (int d = 0; !value->is_input && value->type.kind == VN_TYPE_TENSOR && d < value->type.shape.rank; d++)
        fix_dim (value, d, NULL, names);
    }
}

static gboolean
fix_shapes_run (VnPassContext  *ctx,
                GError        **error)
{
  g_autoptr(GHashTable) names = NULL;

  /* First of all: sizes that do not fit are refused there. */
  if (ctx->input_shapes == NULL)
    return TRUE;
  names = fix_shapes_collect_names (ctx);
  for (guint i = 0; i < ctx->model->graph->inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (ctx->model->graph->inputs, i);

      if (value->initializer == NULL)
        fix_input (ctx, value, names);
    }
  fix_declared (ctx->model->graph, names);
  return vn_rewrite_infer (ctx, "fix-shapes", error);
}

const VnPass vn_pass_fix_shapes = {
  .id = "fix-shapes",
  .title = N_("Fix dynamic dimensions"),
  .summary = N_("Sets the dimensions given by --shape and --dim in the model."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = fix_shapes_run,
};
