/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of passes, and the order and rounds in which they run. */
#include "vn-rewrite-private.h"

#include "vn-former.h"
#include "vn-node-index.h"

#define VN_PASS(name) extern const VnPass name;
#include "vn-passes.def"
#undef VN_PASS

static const VnPass * const passes[] = {
#define VN_PASS(name) &name,
#include "vn-passes.def"
#undef VN_PASS
};

/**
 * vn_pass_list:
 * @n: (out): how many
 *
 * Returns: (transfer none): all passes, in the order vn_prepare_model() runs them
 */
const VnPass * const *
vn_pass_list (guint *n)
{
  *n = G_N_ELEMENTS (passes);
  return passes;
}

/**
 * vn_pass_find:
 *
 * Returns: (transfer none) (nullable): the pass of that id
 */
const VnPass *
vn_pass_find (const char *id)
{
  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    if (g_str_equal (passes[i]->id, id))
      return passes[i];
  return NULL;
}

/**
 * vn_pass_run:
 * @id: one of vn_pass_list()
 *
 * Runs one pass on ctx->model and checks that the result is sound. On failure the model may be half changed and must
 * be thrown away.
 *
 * Returns: %FALSE with an error whose message begins with the pass
 */
gboolean
vn_pass_run (const char     *id,
             VnPassContext  *ctx,
             GError        **error)
{
  const VnPass *pass;

  g_return_val_if_fail (id != NULL, FALSE);

  pass = vn_pass_find (id);
  if (pass != NULL)
    return vn_pass_apply (pass, ctx, error);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no pass “%s”"), id);
  return FALSE;
}

/* More rounds than any network needs; each makes it smaller. */
#define MAX_ROUNDS 32

static gboolean
pass_is_asked_for (const VnPass           *pass,
                   const VnPrepareOptions *options)
{
  return options->passes != NULL && g_strv_contains (options->passes, pass->id);
}

static gboolean
pass_is_wanted (const VnPass           *pass,
                const VnPrepareOptions *options)
{
  static const char * const kept[] = { "opset", "sort", "infer", NULL };

  if (pass_is_asked_for (pass, options))
    return TRUE;
  if (options->skip_optimization)
    return g_strv_contains (kept, pass->id);
  return pass->stage == VN_PASS_ALWAYS || (pass->stage == VN_PASS_OPTIMIZE && options->optimize);
}

static gboolean
pass_check_ids (const VnPrepareOptions  *options,
                GError                 **error)
{
  for (const char * const *id = options->passes; id != NULL && *id != NULL; id++)
    if (vn_pass_find (*id) == NULL)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no pass “%s”"), *id);
        return FALSE;
      }
  return TRUE;
}

static gboolean
pass_run_range (VnPassContext  *ctx,
                guint           first,
                guint           end,
                gboolean        repeats,
                GError        **error)
{
  for (guint i = first; i < end; i++)
    if (pass_is_wanted (passes[i], ctx->options) && (!repeats || passes[i]->repeats) &&
        !vn_pass_apply (passes[i], ctx, error))
      return FALSE;
  return TRUE;
}

static gboolean
pass_run_rounds (VnPassContext  *ctx,
                 guint           end,
                 GError        **error)
{
  guint before = G_MAXUINT;

  for (guint round = 0; round < MAX_ROUNDS && before != vn_edit_log_get_n (ctx->log); round++)
    {
      before = vn_edit_log_get_n (ctx->log);
      if (!pass_run_range (ctx, 0, end, TRUE, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
pass_any_asked_for (const VnPrepareOptions *options,
                    guint                   first)
{
  for (guint i = first; i < G_N_ELEMENTS (passes); i++)
    if (passes[i]->stage == VN_PASS_REQUEST && pass_is_asked_for (passes[i], options))
      return TRUE;
  return FALSE;
}

static gboolean
pass_run_all (VnPassContext  *ctx,
              GError        **error)
{
  gboolean optimize = ctx->options->optimize && !ctx->options->skip_optimization;
  guint end = 0;

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    end = passes[i]->repeats ? i + 1 : end;
  if (!pass_run_range (ctx, 0, end, FALSE, error) ||
      (optimize && !pass_run_rounds (ctx, end, error)) ||
      !pass_run_range (ctx, end, G_N_ELEMENTS (passes), FALSE, error))
    return FALSE;
  return !pass_any_asked_for (ctx->options, end) || vn_pass_apply (&vn_pass_dead, ctx, error);
}

/* Results of the network are what no pass takes away; those that are none get added. Returns how many there were. */
static guint
pass_hold_values (VnGraph            *graph,
                  const char * const *names)
{
  guint n = graph->outputs->len;

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      VnValue *value = vn_graph_find_value (graph, names[i]);

      if (value != NULL && value->producer != NULL && !value->is_output)
        vn_graph_set_output (graph, graph->outputs->len, value);
    }
  return n;
}

static void
pass_release_values (VnGraph *graph,
                     guint    n_outputs)
{
  for (guint i = n_outputs; i < graph->outputs->len; i++)
    ((VnValue *) g_ptr_array_index (graph->outputs, i))->is_output = FALSE;
  g_ptr_array_set_size (graph->outputs, (int) n_outputs);
}

/* Passes take out of it what they have made part of the model. */
static GHashTable *
pass_copy_shapes (GHashTable *shapes)
{
  GHashTable *copy = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer name, shape;

  g_hash_table_iter_init (&iter, shapes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    g_hash_table_insert (copy, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
  return copy;
}

/**
 * vn_prepare_model_with:
 *
 * As vn_prepare_model(), with more settings.
 *
 * Returns: (transfer full): a changed copy; %VN_ERROR_SETTING for a pass that does not exist
 */
VnModel *
vn_prepare_model_with (const VnModel           *model,
                       const VnPrepareOptions  *options,
                       VnEditLog               *log,
                       VnNotes                 *notes,
                       GCancellable            *cancellable,
                       GError                 **error)
{
  g_autoptr(VnModel) copy = NULL;
  g_autoptr(VnEditLog) own_log = log == NULL ? vn_edit_log_new () : NULL;
  g_autoptr(GHashTable) shapes = NULL;
  VnPassContext ctx;

  g_return_val_if_fail (model != NULL && options != NULL, NULL);

  shapes = options->input_shapes != NULL ? pass_copy_shapes (options->input_shapes) : NULL;
  copy = vn_model_copy (model);
  ctx = (VnPassContext) { .model = copy, .log = log != NULL ? log : own_log, .notes = notes, .cancellable = cancellable,
                          .target_opset = options->target_opset, .input_shapes = shapes,
                          .options = options };
  guint n_outputs;

  if (!pass_check_ids (options, error))
    return NULL;
  n_outputs = pass_hold_values (copy->graph, options->keep);
  if (!pass_run_all (&ctx, error))
    return NULL;
  pass_release_values (copy->graph, n_outputs);
  vn_model_separate_names (copy, NULL);
  vn_graph_note_former (copy->graph, model->graph, ctx.log);
  return g_steal_pointer (&copy);
}

/* Documented in the header. Types are inferred before the other passes as well: some conversions depend on ranks. */
VnModel *
vn_prepare_model (const VnModel  *model,
                  gint64          target_opset,
                  GHashTable     *input_shapes,
                  VnEditLog      *log,
                  VnNotes        *notes,
                  GCancellable   *cancellable,
                  GError        **error)
{
  VnPrepareOptions options = { .target_opset = target_opset, .input_shapes = input_shapes };

  g_return_val_if_fail (model != NULL, NULL);

  return vn_prepare_model_with (model, &options, log, notes, cancellable, error);
}
