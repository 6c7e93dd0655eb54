/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "inspect": what is in a model file. */
#include "vn-cmd.h"

#include "vn-body.h"
#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-op.h"
#include "vn-pass.h"
#include "vn-preflight.h"
#include "vn-runtime.h"
#include "vn-quantize.h"

#include <math.h>
#include <string.h>

static gboolean tensors, weights, precision, preflight, presets;
static char *node_data, *tensor, *save_tensor, *body;
static gboolean integers;

static void
cmd_inspect_add_value (JsonBuilder   *json,
                       const VnValue *value)
{
  g_autofree char *type = vn_type_to_string (&value->type);

  vn_cmd_print ("  %s: %s\n", value->name, type);
  json_builder_begin_object (json);
  vn_json_add_text (json, "name", value->name);
  vn_json_add_text (json, "type", type);
  json_builder_end_object (json);
}

static void
cmd_inspect_add_values (JsonBuilder *json,
                        const char  *member,
                        const char  *title,
                        GPtrArray   *values)
{
  vn_cmd_print ("%s\n", title);
  vn_json_begin_array (json, member);
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      /* Old files list their weights as inputs; nobody feeds those. */
      if (value->initializer == NULL || value->is_output)
        cmd_inspect_add_value (json, value);
    }
  json_builder_end_array (json);
}

/* Results of nodes with their sizes, open ones by what they are. */
static GPtrArray *
cmd_inspect_list_results (const VnGraph *graph)
{
  GPtrArray *values = g_ptr_array_new ();

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          g_ptr_array_add (values, vn_node_get_output (node, k));
    }
  return values;
}

typedef struct
{
  char     *type;
  guint     n;
  gboolean  supported;
} OpCount;

static void
cmd_inspect_op_count_free (gpointer data)
{
  g_free (((OpCount *) data)->type);
  g_free (data);
}

static gint
cmd_inspect_compare_counts (gconstpointer a,
                            gconstpointer b)
{
  const OpCount *x = *(const OpCount * const *) a, *y = *(const OpCount * const *) b;

  return x->n != y->n ? (x->n > y->n ? -1 : 1) : g_strcmp0 (x->type, y->type);
}

static GPtrArray *
cmd_inspect_count_ops (const VnGraph *graph)
{
  GPtrArray *counts = g_ptr_array_new_with_free_func (cmd_inspect_op_count_free);
  g_autoptr(GHashTable) by_type = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      g_autofree char *type = node->domain[0] != '\0' ? g_strdup_printf ("%s:%s", node->domain, node->op_type)
                                                      : g_strdup (node->op_type);
      OpCount *count = g_hash_table_lookup (by_type, type);

      if (count == NULL)
        {
          count = g_new0 (OpCount, 1);
          count->type = g_strdup (type);
          count->supported = vn_backend_lookup_node (node) != NULL;
          g_ptr_array_add (counts, count);
          g_hash_table_insert (by_type, count->type, count);
        }
      count->n++;
    }
  g_ptr_array_sort (counts, cmd_inspect_compare_counts);
  return counts;
}

static void
cmd_inspect_add_ops (JsonBuilder   *json,
                     const VnGraph *graph)
{
  g_autoptr(GPtrArray) counts = cmd_inspect_count_ops (graph);

  vn_cmd_print ("%s\n", _("Operators"));
  vn_json_begin_array (json, "operators");
  for (guint i = 0; i < counts->len; i++)
    {
      const OpCount *count = g_ptr_array_index (counts, i);

      vn_cmd_print ("  %5u %s%s\n", count->n, count->type, count->supported ? "" : _("  (unsupported)"));
      json_builder_begin_object (json);
      vn_json_add_text (json, "type", count->type);
      vn_json_add_int (json, "count", count->n);
      vn_json_add_bool (json, "supported", count->supported);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* What runs inside nodes; --body shows one of them as a whole. */
static void
cmd_inspect_add_bodies (JsonBuilder   *json,
                        const VnGraph *graph)
{
  gboolean is_first = TRUE;

  vn_json_begin_array (json, "bodies");
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      g_autoptr(GPtrArray) bodies = vn_node_list_bodies (node);
      g_autofree char *label = vn_node_dup_label (node);

      if (bodies->len > 0 && is_first)
        vn_cmd_print ("%s\n", _("Bodies"));
      is_first = is_first && bodies->len == 0;
      for (guint k = 0; k < bodies->len; k++)
        {
          const VnBody *each = bodies->pdata[k];

          g_autofree char *name = *each->attr != '\0' ? g_strdup_printf ("%s:%s", label, each->attr) : g_strdup (label);

          vn_cmd_print (ngettext ("  %s  %u node\n", "  %s  %u nodes\n", each->n_nodes), name, each->n_nodes);
          json_builder_begin_object (json);
          vn_json_add_text (json, "node", label);
          vn_json_add_text (json, "attribute", each->attr);
          vn_json_add_int (json, "nodes", each->n_nodes);
          json_builder_end_object (json);
        }
    }
  json_builder_end_array (json);
}

/* NODE:ATTRIBUTE, or NODE alone for the function that it calls. */
static VnModel *
cmd_inspect_open_body (VnModel     *model,
                       const char  *which,
                       GError     **error)
{
  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);
      gsize n = strlen (label);

      if (strncmp (which, label, n) == 0 && (which[n] == '\0' || which[n] == ':'))
        return vn_model_new_for_body (node, which[n] == ':' ? which + n + 1 : "", error);
    }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               _("--body: no node matches “%s”; run “inspect” to list the bodies"), which);
  return NULL;
}

static gboolean
cmd_inspect_use_body (VnModel  **model,
                      GError   **error)
{
  VnModel *opened;

  if (body == NULL)
    return TRUE;
  opened = cmd_inspect_open_body (*model, body, error);
  if (opened == NULL)
    return FALSE;
  vn_model_unref (*model);
  *model = opened;
  return TRUE;
}

static void
cmd_inspect_add_opsets (JsonBuilder   *json,
                        const VnModel *model)
{
  vn_json_begin_array (json, "opsets");
  for (guint i = 0; i < model->opsets->len; i++)
    {
      const VnOpset *opset = &g_array_index (model->opsets, VnOpset, i);
      const char *domain = opset->domain[0] != '\0' ? opset->domain : "ai.onnx";

      vn_cmd_print ("%s%s %" G_GINT64_FORMAT, i > 0 ? ", " : "", domain, opset->version);
      json_builder_begin_object (json);
      vn_json_add_text (json, "domain", domain);
      vn_json_add_int (json, "version", opset->version);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  vn_cmd_print ("\n");
}

/* Every node that cannot be run, with its operator. */
static void
cmd_inspect_add_unsupported (JsonBuilder   *json,
                             const VnGraph *graph)
{
  g_autoptr(GPtrArray) nodes = vn_graph_list_unsupported (graph);

  if (nodes->len > 0)
    vn_cmd_print (ngettext ("%u node is not supported; nodes that do not depend on it still run\n",
                            "%u nodes are not supported; nodes that do not depend on them still run\n", nodes->len),
                  nodes->len);
  vn_json_begin_array (json, "unsupported");
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      g_autofree char *label = vn_node_dup_label (node);
      g_autofree char *what = vn_op_describe_node (node);

      vn_cmd_print ("  %s: %s\n", label, what);
      json_builder_begin_object (json);
      vn_json_add_text (json, "node", label);
      vn_json_add_text (json, "type", node->op_type);
      vn_json_add_text (json, "domain", node->domain[0] != '\0' ? node->domain : "ai.onnx");
      vn_json_add_int (json, "opset", vn_model_get_opset (graph->model, node->domain));
      vn_json_begin_array (json, "outputs");
      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          json_builder_add_string_value (json, vn_node_get_output (node, k)->name);
      json_builder_end_array (json);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
cmd_inspect_add_quantized (JsonBuilder   *json,
                           const VnModel *model)
{
  guint n = vn_quantize_count_quantized (model);

  if (n > 0)
    vn_cmd_print (ngettext ("Already quantized: %u node quantizes tensors or works on quantized ones\n",
                            "Already quantized: %u nodes quantize tensors or work on quantized ones\n", n), n);
  vn_json_add_int (json, "quantized_nodes", n);
}

static VnNotes *
cmd_inspect_find_risks (const VnModel  *model,
                        double         *gain_db,
                        GError        **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnModel) runnable = vn_model_to_float ((VnModel *) model, NULL, error);
  g_autoptr(VnModel) prepared = runnable != NULL
                                ? vn_prepare_model (runnable, vn_quantize_get_opset (runnable, recipe), NULL, NULL, NULL,
                                                                     NULL, error) : NULL;
  g_autofree char *gaps = vn_runtime_dup_bfloat_gaps (model->graph);
  g_autoptr(VnNotes) notes = vn_notes_new ();

  if (prepared == NULL || !vn_preflight (prepared, recipe, 0, notes, gain_db, error))
    return NULL;
  if (gaps != NULL)
    vn_runtime_note_bfloat (gaps, notes);
  return g_steal_pointer (&notes);
}

static void
cmd_inspect_add_risk (JsonBuilder  *json,
                      const VnNote *note)
{
  vn_cmd_print ("  %s%s%s.\n", note->subject != NULL ? note->subject : "", note->subject != NULL ? ": " : "", note->text);
  if (note->remedy != NULL)
    vn_cmd_print (_("    possible fixes: %s\n"), note->remedy);
  json_builder_begin_object (json);
  vn_json_add_text (json, "level", vn_note_level_get_id (note->level));
  vn_json_add_text (json, "code", note->code);
  vn_json_add_text (json, "tensor", note->subject);
  vn_json_add_text (json, "text", note->text);
  vn_json_add_text (json, "remedy", note->remedy);
  json_builder_end_object (json);
}

/* Of networks that can be run on random numbers. */
static void
cmd_inspect_add_noise_gain (JsonBuilder *json,
                            double       gain_db)
{
  if (isnan (gain_db))
    return;
  vn_cmd_print (_("Float noise gain: %.0f dB, on random samples\n"), gain_db);
  json_builder_set_member_name (json, "noise_gain_db");
  json_builder_add_double_value (json, gain_db);
}

static gboolean
cmd_inspect_add_preflight (JsonBuilder    *json,
                           const VnModel  *model,
                           GError        **error)
{
  double gain_db = NAN;
  g_autoptr(VnNotes) notes = NULL;

  if (vn_quantize_count_quantized (model) > 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("--preflight applies to float models; this one is already quantized"));
      return FALSE;
    }
  notes = cmd_inspect_find_risks (model, &gain_db, error);
  if (notes == NULL)
    return FALSE;
  cmd_inspect_add_noise_gain (json, gain_db);
  vn_cmd_print ("%s\n", vn_notes_get_n (notes) > 0
                ? _("Possible accuracy problems with the default settings") : _("No accuracy problems expected"));
  vn_json_begin_array (json, "preflight");
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    cmd_inspect_add_risk (json, vn_notes_get (notes, i));
  json_builder_end_array (json);
  return TRUE;
}

/* Sizes that are given count as if the model had them. */
static gboolean
cmd_inspect_take_sizes (VnModel     *model,
                        GHashTable **shapes,
                        GError     **error)
{
  GError *reason = NULL;

  *shapes = vn_cmd_parse_shapes (model, &reason);
  if (reason != NULL)
    g_propagate_error (error, reason);
  return reason == NULL && (*shapes == NULL || vn_model_infer_types (model, *shapes, NULL, error));
}

static gboolean
cmd_inspect_check_save (VnModel     *model,
                        const char  *path,
                        GError     **error)
{
  g_autoptr(VnFileSet) files = vn_cmd_new_files (path);

  vn_model_add_files (model, files);
  vn_file_set_writes (files, save_tensor, "--save-tensor");
  return vn_file_set_check (files, error);
}

static gboolean
inspect_run (char        **args,
             JsonBuilder  *json,
             GError      **error)
{
  g_autoptr(VnModel) model = vn_cmd_open_model (args[0], error);
  g_autoptr(VnModel) expanded = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autofree char *size = NULL;
  g_autofree char *weight_size = NULL;

  if (model == NULL || !cmd_inspect_use_body (&model, error) || !cmd_inspect_take_sizes (model, &shapes, error))
    return FALSE;
  expanded = vn_model_expand_functions (model, NULL, NULL);
  if (tensor == NULL && (integers || save_tensor != NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--integers and --save-tensor require --tensor"));
      return FALSE;
    }
  if (tensor != NULL)
    return cmd_inspect_check_save (model, args[0], error) &&
           vn_cmd_print_tensor (json, model, tensor, integers, save_tensor, error);
  size = vn_format_bytes_column (model->file_size);
  weight_size = vn_format_bytes_column (vn_graph_weight_bytes (model->graph));
  vn_cmd_print (_("%s: %s, weights %s, IR %lld, producer %s\n"), args[0], size, weight_size, (long long) model->ir_version,
                model->producer_name != NULL && model->producer_name[0] != '\0' ? model->producer_name : _("unknown"));
  vn_json_add_int (json, "ir_version", model->ir_version);
  vn_json_add_int (json, "file_bytes", (gint64) model->file_size);
  vn_json_add_int (json, "weight_bytes", (gint64) vn_graph_weight_bytes (model->graph));
  vn_json_add_int (json, "nodes", model->graph->nodes->len);
  vn_json_add_text (json, "producer", model->producer_name != NULL ? model->producer_name : "");
  vn_cmd_print (ngettext ("%u node; opsets: ",
                          "%u nodes; opsets: ", model->graph->nodes->len), model->graph->nodes->len);
  cmd_inspect_add_opsets (json, model);
  cmd_inspect_add_quantized (json, model);
  cmd_inspect_add_values (json, "inputs", _("Inputs"), model->graph->inputs);
  cmd_inspect_add_values (json, "outputs", _("Outputs"), model->graph->outputs);
  if (tensors)
    {
      g_autoptr(GPtrArray) results = cmd_inspect_list_results (model->graph);

      cmd_inspect_add_values (json, "tensors", _("Tensors"), results);
    }
  cmd_inspect_add_ops (json, model->graph);
  cmd_inspect_add_bodies (json, model->graph);
  if (weights && !vn_cmd_print_weights (json, model->graph, error))
    return FALSE;
  if (node_data != NULL && !vn_cmd_print_numbers (json, model->graph, node_data, error))
    return FALSE;
  if (precision)
    vn_cmd_print_precision (json, model->graph);
  cmd_inspect_add_unsupported (json, expanded != NULL ? expanded->graph : model->graph);
  if (preflight && !cmd_inspect_add_preflight (json, model, error))
    return FALSE;
  if (presets && !vn_cmd_print_presets (json, model, shapes, error))
    return FALSE;
  vn_cmd_print_notes (model->notes);
  vn_cmd_json_notes (json, model->notes);
  return TRUE;
}

static const GOptionEntry options[] = {
  { "tensors", 0, 0, G_OPTION_ARG_NONE, &tensors, N_("List the output of every node, with its shape"), NULL },
  { "weights", 0, 0, G_OPTION_ARG_NONE, &weights, N_("Print statistics of the values of every weight"), NULL },
  { "precision", 0, 0, G_OPTION_ARG_NONE, &precision, N_("Group the nodes by bit width, such as A16W8"), NULL },
  { "preflight", 0, 0, G_OPTION_ARG_NONE, &preflight, N_("Predict the accuracy problems of quantization with the "
                                                         "default settings"), NULL },
  { "presets", 0, 0, G_OPTION_ARG_NONE, &presets, N_("Print the size that the quantized file has with each preset, and what "
                                                     "stays in float; needs no samples"), NULL },
  { "body", 0, 0, G_OPTION_ARG_STRING, &body, N_("Show what runs inside a node: NODE:ATTRIBUTE as “Bodies” lists it, such as "
                                                 "If_0:then_branch"), N_("BODY") },
  { "node-data", 0, 0, G_OPTION_ARG_FILENAME, &node_data, N_("Print the values that a file gives for nodes: Model Explorer node "
                                                             "data, an ONNX Runtime profile, or lines of name,value"),
    N_("FILE") },
  { "tensor", 0, 0, G_OPTION_ARG_STRING, &tensor, N_("Print only what a constant holds, or the weight of a node, by name: "
                                                     "scales, levels, statistics, values"), N_("NAME") },
  { "integers", 0, 0, G_OPTION_ARG_NONE, &integers, N_("With --tensor: the integers that are stored, not the numbers that they "
                                                       "stand for"), NULL },
  { "save-tensor", 0, 0, G_OPTION_ARG_FILENAME, &save_tensor, N_("With --tensor: write all values to a .npy file"), N_("FILE") },
  { NULL }
};

const VnCmd vn_cmd_inspect = {
  .name = "inspect",
  .usage = "MODEL",
  .summary = N_("Show the inputs, outputs, operators and problems of a model"),
  .options = options,
  .n_args = 1,
  .run = inspect_run,
};
