/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recipe does to a network, told before any sample is run: the recipe is resolved and written as for a run, with ranges
 * that are made up. What depends on ranges is small: scales have the same size whatever they are. */
#include "vn-coverage.h"

#include "vn-job-input.h"

#include "vn-format-traits.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-resolver.h"

#define MOST_NAMES 4u            /* operators, in a sentence */
#define LEAST_SHARE 0.005        /* of the weights that is told */
#define MOST_ENCODED ((gsize) 1 << 30)

/*< private >
 * vn_job_count_bytes:
 *
 * Returns: size of @model as a file: of large ones about; 0 with an error if it cannot be written
 */
gsize
vn_job_count_bytes (const VnModel  *model,
                    GError        **error)
{
  g_autoptr(VnModel) written = NULL;

  g_return_val_if_fail (model != NULL, 0);

  written = vn_model_share_transposed ((VnModel *) model);
  if (vn_graph_weight_bytes (written->graph) > MOST_ENCODED)
    return vn_graph_weight_bytes (written->graph);
  return vn_onnx_count_bytes (written, error);
}

/*< private >
 * vn_job_write_quantized:
 * @self: prepared
 * @written: the prepared network with its weights as they are to be written
 * @value_names: (out): as of vn_quantize_write()
 *
 * Returns: (transfer full) (nullable): what is exported, with types inferred
 */
VnModel *
vn_job_write_quantized (const VnJobInput  *self,
                        const VnModel     *written,
                        VnQuantPlan       *plan,
                        GHashTable       **value_names,
                        GError           **error)
{
  g_autoptr(VnModel) quantized = NULL;
  g_autoptr(GHashTable) given = NULL;

  g_return_val_if_fail (self != NULL && written != NULL && plan != NULL && value_names != NULL, NULL);

  quantized = vn_quantize_write (written, self->recipe, plan, value_names, error);
  if (quantized == NULL || !vn_quantize_narrow (quantized, self->model, self->recipe, *value_names, error))
    return NULL;
  vn_quantize_keep_types (quantized, self->model, *value_names);
  given = vn_job_input_list_given (self);
  return vn_model_infer_types (quantized, given, NULL, error) ? g_steal_pointer (&quantized) : NULL;
}

/* ---- counting ---- */

typedef struct
{
  VnCoverage *coverage;
  GHashTable *types;        /* name -> VnCoverageType, borrowed */
  GHashTable *seen;         /* VnValue: constants that were counted */
} Count;

static void
coverage_free_type (gpointer data)
{
  g_free (((VnCoverageType *) data)->type);
  g_free (data);
}

/* Constants of floats that @node reads and no other has counted. */
static guint64
coverage_count_weights (Count        *self,
                        const VnNode *node)
{
  guint64 bytes = 0;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      const VnTensor *constant = value != NULL ? vn_value_get_constant (value) : NULL;

      if (constant != NULL && vn_dtype_is_float (constant->dtype) && g_hash_table_add (self->seen, (gpointer) value))
        bytes += constant->n_bytes;
    }
  return bytes;
}

static void
coverage_add_kept (Count        *self,
                   const VnNode *node,
                   guint64       bytes)
{
  g_autofree char *name = *node->domain != '\0' ? g_strdup_printf ("%s:%s", node->domain, node->op_type)
                                                : g_strdup (node->op_type);
  VnCoverageType *type = g_hash_table_lookup (self->types, name);

  if (type == NULL)
    {
      type = g_new0 (VnCoverageType, 1);
      type->type = g_steal_pointer (&name);
      g_hash_table_insert (self->types, type->type, type);
      g_ptr_array_add (self->coverage->kept, type);
    }
  type->n++;
  type->weight_bytes += bytes;
  self->coverage->kept_bytes += bytes;
}

/* Moving and picking floats is no computing. */
static gboolean
coverage_computes (const VnNode *node)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);
  const VnValue *output = vn_node_get_output (node, 0);

  return output != NULL && output->type.kind == VN_TYPE_TENSOR && vn_dtype_is_float (output->type.dtype) &&
         !vn_value_is_constant (output) && !vn_node_has_graphs (node) && !vn_node_is (node, "Cast") &&
         (op == NULL || op->quant.role != VN_QUANT_PASSTHROUGH);
}

/* Plans of floats of 16 bits have rows alone. */
static gboolean
coverage_is_quantized (VnQuantPlan  *plan,
                       const VnNode *node)
{
  const VnTensorPlan *row = vn_quant_plan_find (plan, vn_node_get_output (node, 0)->name);
  g_autofree char *label = vn_node_dup_label (node);
  gboolean is_quantized = vn_quant_plan_is_node_quantized (plan, label) || (row != NULL && row->quantized &&
                                                                            vn_dtype_is_float (row->dtype));

  for (guint i = 0; i < node->inputs->len && !is_quantized; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      row = value != NULL && vn_value_is_constant (value) ? vn_quant_plan_find (plan, value->name) : NULL;
      is_quantized = row != NULL && row->quantized && vn_dtype_is_float (row->dtype);
    }
  return is_quantized;
}

static void
coverage_count_graph (Count         *self,
                      const VnGraph *graph,
                      VnQuantPlan   *plan);

/* Graphs of which nothing is quantized have no plan. */
static void
coverage_count_bodies (Count        *self,
                       const VnNode *node,
                       VnQuantPlan  *plan)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);
      VnQuantPlan *inner = NULL;

      for (guint k = 0; plan != NULL && k < plan->bodies->len; k++)
        {
          const VnQuantBody *body = g_ptr_array_index (plan->bodies, k);

          if (body->node == node->index && g_str_equal (body->attr, attr->name))
            inner = body->plan;
        }
      if (attr->graph != NULL)
        coverage_count_graph (self, attr->graph, inner);
    }
}

static void
coverage_count_graph (Count         *self,
                      const VnGraph *graph,
                      VnQuantPlan   *plan)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      guint64 bytes;

      coverage_count_bodies (self, node, plan);
      if (!coverage_computes (node))
        continue;
      bytes = coverage_count_weights (self, node);
      self->coverage->n_nodes++;
      self->coverage->weight_bytes += bytes;
      if (plan != NULL && coverage_is_quantized (plan, node))
        self->coverage->n_quantized++;
      else
        coverage_add_kept (self, node, bytes);
    }
}

static gint
coverage_compare_types (gconstpointer a,
                        gconstpointer b)
{
  const VnCoverageType *x = *(const VnCoverageType * const *) a, *y = *(const VnCoverageType * const *) b;

  if (x->weight_bytes != y->weight_bytes)
    return x->weight_bytes > y->weight_bytes ? -1 : 1;
  return x->n != y->n ? (x->n > y->n ? -1 : 1) : g_strcmp0 (x->type, y->type);
}

static void
coverage_count (VnCoverage    *self,
                const VnModel *prepared,
                VnQuantPlan   *plan)
{
  g_autoptr(GHashTable) types = g_hash_table_new (g_str_hash, g_str_equal), seen = g_hash_table_new (NULL, NULL);
  Count count = { self, types, seen };

  coverage_count_graph (&count, prepared->graph, plan);
  g_ptr_array_sort (self->kept, coverage_compare_types);
}

/* ---- resolving ---- */

/* A #VnHistogramFunc: every tensor has been seen to be from -1 to 1. */
static const VnHistogram *
coverage_lookup (const char *name,
                 gpointer    data)
{
  return data;
}

static VnHistogram *
coverage_make_up_range (void)
{
  static const float values[] = { -1, -0.75f, -0.5f, -0.25f, 0, 0.25f, 0.5f, 0.75f, 1 };
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  VnHistogram *histogram = vn_histogram_new ();

  vn_histogram_scan (histogram, scratch, values, G_N_ELEMENTS (values));
  return histogram;
}

/* Which matrices samples will give more bits is not known: as if all of them needed it as much. */
static VnImportance *
coverage_make_up_importance (const VnGraph *graph)
{
  VnImportance *importance = vn_importance_new ();

  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->initializer != NULL)
        vn_importance_set_noise (importance, value->name, (double) value->initializer->n_elements);
    }
  return importance;
}

/* Weights are rounded in the simplest way: which way makes none of them larger. */
static VnRecipe *
coverage_simplify_recipe (const VnRecipe *recipe)
{
  static const VnLayerSetting idle[] = {
    VN_LAYER_ROUNDING, VN_LAYER_TRAIN, VN_LAYER_BIAS_CORRECTION, VN_LAYER_BALANCE_CHANNELS, VN_LAYER_ACTIVATION_CHANNELS
  };
  VnRecipe *simple = vn_recipe_copy (recipe);

  for (guint i = 0; i < G_N_ELEMENTS (idle); i++)
    vn_recipe_turn_off (simple, idle[i]);
  simple->equalize = VN_EQUALIZE_OFF;
  simple->range_search = VN_RANGE_SEARCH_OFF;
  if (vn_recipe_uses_samples (simple))
    {
      g_free (simple->method);
      simple->method = g_strdup ("minmax");
    }
  return simple;
}

static gboolean
coverage_fill (VnCoverage    *self,
               VnJobInput    *input,
               GCancellable  *cancellable,
               GError       **error)
{
  g_autoptr(VnHistogram) range = coverage_make_up_range ();
  g_autoptr(VnImportance) importance = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GHashTable) value_names = NULL;
  g_autoptr(VnModel) quantized = NULL;

  if (!vn_job_input_validate (input, error) || !vn_job_input_prepare (input, cancellable, error))
    return FALSE;
  importance = coverage_make_up_importance (input->prepared->graph);
  plan = vn_quantize_resolve_factors (input->prepared, input->recipe, coverage_lookup, range, NULL, importance, NULL, error);
  if (plan == NULL || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  coverage_count (self, input->prepared, plan);
  quantized = vn_job_write_quantized (input, input->prepared, plan, &value_names, error);
  if (quantized == NULL)
    return FALSE;
  self->float_bytes = input->model->file_size > 0 ? input->model->file_size : vn_job_count_bytes (input->model, error);
  self->quantized_bytes = vn_job_count_bytes (quantized, error);
  return self->float_bytes > 0 && self->quantized_bytes > 0;
}

/**
 * vn_coverage_new:
 * @model: a float network
 * @recipe: how it is quantized
 * @input_shapes: (nullable) (element-type utf8 VnShape): sizes of inputs that the user gave
 *
 * As if samples reached every branch of the network. Takes about as long as quantizing without samples: all weights are read and
 * written once. From any thread.
 *
 * Returns: (transfer full) (nullable): %NULL with the error of a run: a setting that cannot be followed, nothing that can be
 *   quantized; or it was cancelled
 */
VnCoverage *
vn_coverage_new (VnModel         *model,
                 const VnRecipe  *recipe,
                 GHashTable      *input_shapes,
                 GCancellable    *cancellable,
                 GError         **error)
{
  g_autoptr(VnCoverage) self = NULL;
  g_autoptr(VnRecipe) simple = NULL;
  g_autoptr(VnEditLog) edits = NULL;
  g_autoptr(VnNotes) notes = NULL;
  const VnFormatTraits *format;
  VnJobInput input;
  gboolean ok;

  g_return_val_if_fail (model != NULL && recipe != NULL, NULL);

  self = g_new0 (VnCoverage, 1);
  g_atomic_ref_count_init (&self->ref);
  format = vn_recipe_get_format (recipe);
  self->kept = g_ptr_array_new_with_free_func (coverage_free_type);
  self->is_float_between = format->weights_only || format->integer_products || (!format->has_scales && !format->half_arithmetic);
  self->needs_samples = vn_recipe_needs_samples (recipe);
  simple = coverage_simplify_recipe (recipe);
  edits = vn_edit_log_new ();
  notes = vn_notes_new ();
  input = (VnJobInput) { .model = model, .recipe = simple, .given_shapes = input_shapes, .edits = edits, .notes = notes };
  ok = coverage_fill (self, &input, cancellable, error);
  vn_job_input_clear (&input);
  return ok ? g_steal_pointer (&self) : NULL;
}

/**
 * vn_coverage_ref:
 *
 * Returns: (transfer full): @self
 */
VnCoverage *
vn_coverage_ref (VnCoverage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_coverage_unref:
 * @self: (transfer full):
 */
void
vn_coverage_unref (VnCoverage *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_ptr_array_unref (self->kept);
  g_free (self);
}

/* ---- words ---- */

/**
 * vn_coverage_dup_size:
 *
 * Returns: (transfer full): “1.8 MB, 1.0 times smaller”
 */
char *
vn_coverage_dup_size (const VnCoverage *self)
{
  g_autofree char *bytes = NULL, *ratio = NULL, *text = NULL;
  double smaller;

  g_return_val_if_fail (self != NULL, NULL);

  smaller = (double) self->float_bytes / (double) self->quantized_bytes;
  bytes = vn_format_bytes (self->quantized_bytes);
  ratio = g_strdup_printf ("%.1f", smaller >= 1 ? smaller : 1 / smaller);
  text = g_strdup_printf (smaller >= 1 ? _("%s times smaller") : _("%s times larger"), ratio);
  return g_strdup_printf ("%s, %s", bytes, text);
}

/* Of what computes in float anyway only weights are told. */
static gboolean
coverage_is_told (const VnCoverage     *self,
                  const VnCoverageType *type)
{
  return !self->is_float_between || (double) type->weight_bytes >= LEAST_SHARE * (double) self->weight_bytes;
}

static void
coverage_add_words (const VnCoverage     *self,
                    const VnCoverageType *type,
                    GString              *text)
{
  const double share = self->weight_bytes > 0 ? (double) type->weight_bytes / (double) self->weight_bytes : 0;

  g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", type->type);
  if (share >= LEAST_SHARE)
    {
      g_autofree char *part = g_strdup_printf (_("%.0f %% of the weights"), 100 * share);

      g_string_append_printf (text, " (%s)", part);
    }
}

/**
 * vn_coverage_dup_kept:
 *
 * Returns: (transfer full) (nullable): “LSTM (97 % of the weights), Sigmoid stay in float”; %NULL: nothing does that would be
 *   quantized otherwise
 */
char *
vn_coverage_dup_kept (const VnCoverage *self)
{
  g_autoptr(GString) names = NULL;
  guint n = 0;

  g_return_val_if_fail (self != NULL, NULL);

  names = g_string_new (NULL);
  for (guint i = 0; i < self->kept->len; i++)
    if (coverage_is_told (self, self->kept->pdata[i]) && n++ < MOST_NAMES)
      coverage_add_words (self, self->kept->pdata[i], names);
  if (n > MOST_NAMES)
    g_string_append (names, " …");
  if (n == 0)
    return NULL;
  return g_strdup_printf (ngettext ("%s stays in float", "%s stay in float", n), names->str);
}

/**
 * vn_coverage_dup_text:
 *
 * Returns: (transfer full): both, in a line: “1.4 MB, 1.1 times smaller; LSTM (91 % of the weights) stays in float”
 */
char *
vn_coverage_dup_text (const VnCoverage *self)
{
  g_autofree char *size = NULL, *kept = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  size = vn_coverage_dup_size (self);
  kept = vn_coverage_dup_kept (self);
  return kept != NULL ? g_strdup_printf ("%s; %s", size, kept) : g_steal_pointer (&size);
}
