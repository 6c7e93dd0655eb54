/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is known of a run, with and without its networks, and which of its rows speaks for a node of the opened model. */

#include "vn-run.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-spread.h"

#include <math.h>

/**
 * vn_run_settings_clear:
 *
 * Frees what @self owns.
 */
void
vn_run_settings_clear (VnRunSettings *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->stats, g_strfreev);
}

void
vn_run_node_free (VnRunNode *self)
{
  g_free (self->label);
  g_free (self->op_type);
  g_free (self->source);
  g_free (self->prepared);
  g_free (self->rounded);
  g_free (self);
}

/**
 * vn_run_new:
 *
 * Returns: (transfer full): an empty run; whoever makes it fills it before anybody else sees it
 */
VnRun *
vn_run_new (void)
{
  VnRun *self = g_new0 (VnRun, 1);

  g_atomic_ref_count_init (&self->ref);
  return self;
}

VnRun *
vn_run_ref (VnRun *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_run_unref (VnRun *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->identity, vn_identity_map_unref);
#define VN_RUN_FACET(SYMBOL, Type, field, take, release, life) g_clear_pointer (&self->field, release);
#include "vn-run-facets.def"
#undef VN_RUN_FACET
  vn_run_settings_clear (&self->settings);
  g_free (self->deciding);
  g_free (self);
}

/* Nobody else has it yet. */
static VnRun *
run_copy (VnRun *base)
{
  VnRun *self = g_memdup2 (base, sizeof (VnRun));
  VnIdentityMap *identity = g_atomic_pointer_get (&base->identity);

  g_atomic_ref_count_init (&self->ref);
  self->identity = identity != NULL ? vn_identity_map_ref (identity) : NULL;
  self->deciding = NULL;
  self->has_rounded = 0;
#define VN_RUN_FACET(SYMBOL, Type, field, take, release, life) self->field = base->field != NULL ? take (base->field) : NULL;
#include "vn-run-facets.def"
#undef VN_RUN_FACET
  self->settings.shapes = base->settings.shapes != NULL ? g_hash_table_ref (base->settings.shapes) : NULL;
  self->settings.stats = g_strdupv (base->settings.stats);
  return self;
}

static void
run_set (VnRun         *self,
         VnRunFacet     facet,
         gconstpointer  value)
{
  switch (facet)
    {
#define VN_RUN_FACET(SYMBOL, Type, field, take, release, life)          \
    case VN_FACET_##SYMBOL:                                             \
      g_clear_pointer (&self->field, release);                          \
      self->field = value != NULL ? take ((Type *) value) : NULL;       \
      break;
#include "vn-run-facets.def"
#undef VN_RUN_FACET
    case VN_N_FACETS:
      g_assert_not_reached ();
    }
}

/* It is found anew from the networks. */
static void
run_forget_identity (VnRun *self)
{
  g_clear_pointer (&self->identity, vn_identity_map_unref);
  if (self->prepared != NULL)
    g_clear_pointer (&self->nodes, g_ptr_array_unref);
}

/**
 * vn_run_with:
 * @base: a run
 * @facet: what has been found out since; a recipe may differ from that of @base in the names of rules alone
 * @value: (transfer none) (nullable): of the type that vn-run-facets.def says
 *
 * Contributions are also a metric of the errors, and what was said of causes before does not hold for them. A verification makes
 * a run a verified one.
 *
 * Returns: (transfer full): @base with @value; it shares all the rest
 */
VnRun *
vn_run_with (VnRun         *base,
             VnRunFacet     facet,
             gconstpointer  value)
{
  VnRun *self;

  g_return_val_if_fail (base != NULL && facet < VN_N_FACETS, NULL);
  g_return_val_if_fail (facet != VN_FACET_RECIPE || vn_recipe_equal (base->recipe, value), NULL);

  self = run_copy (base);
  run_set (self, facet, value);
  if (facet == VN_FACET_CONTRIBUTIONS)
    g_clear_pointer (&self->diagnosis, vn_diagnosis_unref);
  if (facet == VN_FACET_CONTRIBUTIONS && self->errors != NULL && value != NULL)
    {
      g_autoptr(VnErrorTable) unmarked = g_steal_pointer (&self->errors);

      self->errors = vn_contributions_mark (self->contributions, unmarked);
    }
  if (facet == VN_FACET_VERIFICATION && value != NULL)
    self->state = VN_RUN_VERIFIED;
  if (facet == VN_FACET_SOURCE || facet == VN_FACET_PLAN || facet == VN_FACET_NAMES)
    run_forget_identity (self);
  return self;
}

/**
 * vn_run_new_estimated:
 * @base: a finished run
 * @expectation: copied or referenced
 *
 * Returns: (transfer full): @base as it is expected to become: with the networks of @base, but plan, errors, recipe and size of
 *   the expectation; what only a whole run can tell is not in it
 */
VnRun *
vn_run_new_estimated (VnRun               *base,
                      const VnExpectation *expectation)
{
  VnRun *self;

  g_return_val_if_fail (base != NULL && expectation != NULL && expectation->recipe != NULL && expectation->plan != NULL, NULL);

  self = run_copy (base);
  self->state = VN_RUN_ESTIMATED;
  self->accuracy = (VnAccuracy) { 0 };
  self->quantized_bytes = (guint64) MAX (0, (gint64) base->quantized_bytes + expectation->more_bytes);
  run_forget_identity (self);
  run_set (self, VN_FACET_DIAGNOSIS, NULL);
  run_set (self, VN_FACET_VERIFICATION, NULL);
  run_set (self, VN_FACET_STEPS, NULL);
  run_set (self, VN_FACET_ANSWERS, NULL);
  run_set (self, VN_FACET_RECIPE_DIGEST, NULL);
  run_set (self, VN_FACET_RECIPE, expectation->recipe);
  run_set (self, VN_FACET_PLAN, expectation->plan);
  run_set (self, VN_FACET_NAMES, expectation->value_names);
  run_set (self, VN_FACET_ERRORS, expectation->errors);
  run_set (self, VN_FACET_CONTRIBUTIONS, expectation->contributions);
  run_set (self, VN_FACET_FORECAST, expectation->forecast);
  return self;
}

/* ---- without networks, and with them again ---- */

static void
run_add_node (VnRun            *self,
              const VnNode     *node,
              const VnIdentity *identity)
{
  VnRunNode *row = g_new0 (VnRunNode, 1);

  row->label = vn_node_dup_label (node);
  row->op_type = g_strdup (node->op_type);
  row->source = g_strdup (identity->source);
  row->prepared = g_strdup (identity->prepared);
  row->rounded = g_strdup (identity->rounded);
  g_ptr_array_add (self->nodes, row);
}

static void
run_keep_name (VnRun      *self,
               GHashTable *names,
               const char *value)
{
  const char *name = value != NULL && self->value_names != NULL ? g_hash_table_lookup (self->value_names, value) : NULL;

  if (name != NULL)
    g_hash_table_replace (names, g_strdup (value), g_strdup (name));
}

/* Of names only those that rows and nodes speak of. */
static void
run_keep_identity (VnRun *self)
{
  VnIdentityMap *map = vn_run_get_identity (self);
  const GPtrArray *nodes = self->source->graph->nodes;
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_run_node_free);
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnIdentity *identity = vn_identity_map_get (map, g_ptr_array_index (nodes, i));

      run_add_node (self, g_ptr_array_index (nodes, i), identity);
      run_keep_name (self, names, identity->rounded);
    }
  for (guint i = 0; self->errors != NULL && i < vn_error_table_get_n (self->errors); i++)
    run_keep_name (self, names, vn_error_table_get (self->errors, i)->value);
  g_clear_pointer (&self->value_names, g_hash_table_unref);
  self->value_names = names;
}

/* What can be told only while there are networks and the whole plan. */
static void
run_keep_figures (VnRun *self)
{
  g_clear_pointer (&self->path, g_free);
  self->path = g_strdup (self->source->path);
  self->n_nodes = self->source->graph->nodes->len;
  self->opset = vn_model_get_opset (self->source, "");
  self->n_quantized = self->plan != NULL ? vn_quant_plan_count_quantized (self->plan) : 0;
  run_keep_identity (self);
}

/**
 * vn_run_without_networks:
 * @base: a run; errors, contributions, notes and what was measured in ONNX Runtime are shared
 *
 * Returns: (transfer full): what stays of it when networks and statistics are gone: what files keep, and what runs are compared
 * by
 */
VnRun *
vn_run_without_networks (VnRun *base)
{
  VnRun *self;

  g_return_val_if_fail (base != NULL && base->recipe != NULL && base->notes != NULL, NULL);

  self = run_copy (base);
  if (self->program == NULL)
    self->program = g_strdup (VN_VERSION);
  if (self->recipe_digest == NULL)
    self->recipe_digest = vn_recipe_dup_digest (self->recipe);
  if (self->source != NULL && self->nodes == NULL)
    run_keep_figures (self);
  if (self->spreads == NULL)
    self->spreads = vn_run_list_spreads (self);
  if (self->answers != NULL)
    g_ptr_array_unref (self->answers);
  self->answers = base->answers != NULL ? vn_sample_answers_dup_figures (base->answers) : NULL;
  vn_run_set_seconds (self, vn_run_get_seconds (base, NULL));
  g_clear_pointer (&self->identity, vn_identity_map_unref);
#define VN_RUN_FACET(SYMBOL, Type, field, take, release, life) VN_RUN_FACET_##life (field, release)
#define VN_RUN_FACET_LIVE(field, release) g_clear_pointer (&self->field, release);
#define VN_RUN_FACET_KEPT(field, release)
#include "vn-run-facets.def"
#undef VN_RUN_FACET
#undef VN_RUN_FACET_LIVE
#undef VN_RUN_FACET_KEPT
  return self;
}

/**
 * vn_run_with_model:
 * @base: of vn_run_without_networks(), or of a file
 * @model: the network that was quantized, as opened
 *
 * Returns: (transfer full) (nullable): @base, whose rows can be told for the nodes of @model again; it has no other networks and
 *   no statistics. %NULL with %VN_ERROR_MALFORMED if @model is another network
 */
VnRun *
vn_run_with_model (VnRun    *base,
                   VnModel  *model,
                   GError  **error)
{
  g_autofree char *digest = NULL;

  g_return_val_if_fail (base != NULL && base->nodes != NULL && model != NULL, NULL);

  digest = vn_model_dup_digest (model);
  if (model->graph->nodes->len == base->nodes->len && (base->source_digest == NULL || g_str_equal (digest, base->source_digest)))
    return vn_run_with (base, VN_FACET_SOURCE, model);
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("%s has changed since it was quantized; quantize it again"),
               model->path != NULL ? model->path : _("the model"));
  return NULL;
}

/**
 * vn_run_get_seconds:
 * @stage: (nullable): id of a stage of the run; %NULL: all of them
 *
 * Returns: how long that took; 0 if it was no part of the run
 */
double
vn_run_get_seconds (const VnRun *self,
                    const char  *stage)
{
  double seconds = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; self->timings != NULL && i < self->timings->len; i++)
    {
      const VnTiming *timing = &g_array_index (self->timings, VnTiming, i);

      if (stage == NULL || g_str_equal (timing->id, stage))
        seconds += timing->seconds;
    }
  return seconds;
}

/**
 * vn_run_set_seconds:
 * @self: nobody else has it yet
 * @seconds: how long the run took; its stages are forgotten. 0: not known
 */
void
vn_run_set_seconds (VnRun  *self,
                    double  seconds)
{
  const VnTiming whole = { "run", N_("Quantizing"), seconds };

  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->timings, g_array_unref);
  if (seconds == 0)
    return;
  self->timings = g_array_new (FALSE, FALSE, sizeof whole);
  g_array_append_val (self->timings, whole);
}

/**
 * vn_run_compare_time:
 * @other: of the same network
 *
 * Returns: how many times as long as the export of @self that of @other is forecast to take in ONNX Runtime; NAN where that is
 * not known
 */
double
vn_run_compare_time (VnRun *self,
                     VnRun *other)
{
  g_return_val_if_fail (self != NULL && other != NULL, NAN);

  if (self->forecast == NULL || other->forecast == NULL || !(self->forecast->seconds > 0))
    return NAN;
  return other->forecast->seconds / self->forecast->seconds;
}

/* Names belong to @nodes. */
static VnIdentityMap *
run_make_identity (const VnRun *self)
{
  g_autofree VnIdentity *identities = NULL;

  if (self->prepared != NULL)
    return vn_identity_map_new (self->source, self->prepared, self->edits, self->plan, self->value_names);
  identities = g_new0 (VnIdentity, self->nodes->len + 1);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnRunNode *node = g_ptr_array_index (self->nodes, i);

      identities[i] = (VnIdentity) { .source = node->source, .prepared = node->prepared, .rounded = node->rounded };
    }
  return vn_identity_map_new_from_names (self->source, identities, self->value_names);
}

/**
 * vn_run_get_identity:
 *
 * Returns: (transfer none): which values stand for the nodes of the source; made when somebody asks first, from any thread
 */
VnIdentityMap *
vn_run_get_identity (VnRun *self)
{
  g_return_val_if_fail (self != NULL && self->source != NULL && (self->prepared != NULL || self->nodes != NULL), NULL);

  if (g_once_init_enter (&self->identity))
    g_once_init_leave (&self->identity, run_make_identity (self));
  return self->identity;
}

/* The value of the prepared model that speaks for @node. */
static const char *
vn_run_find_value_name (VnRun        *self,
                        const VnNode *node)
{
  const VnIdentity *identity = vn_identity_map_get (vn_run_get_identity (self), node);

  return identity != NULL ? identity->rounded : NULL;
}

/**
 * vn_run_get_node_error:
 * @source_node: of the model as opened
 *
 * Returns: (transfer none) (nullable): the row for the node's output, or for that of the node it was folded into
 */
const VnErrorRow *
vn_run_get_node_error (VnRun        *self,
                       const VnNode *source_node)
{
  const char *name;

  g_return_val_if_fail (self != NULL, NULL);

  name = self->errors != NULL ? vn_run_find_value_name (self, source_node) : NULL;
  return name != NULL ? vn_error_table_find (self->errors, name) : NULL;
}

const VnHistogram *
vn_run_get_node_histogram (VnRun        *self,
                           const VnNode *source_node)
{
  const char *name;

  g_return_val_if_fail (self != NULL, NULL);

  name = self->stats != NULL ? vn_run_find_value_name (self, source_node) : NULL;
  return name != NULL ? vn_stats_get (self->stats, name) : NULL;
}

const VnTensorPlan *
vn_run_get_node_plan (VnRun        *self,
                      const VnNode *source_node)
{
  const char *name;

  g_return_val_if_fail (self != NULL, NULL);

  name = self->plan != NULL ? vn_run_find_value_name (self, source_node) : NULL;
  return name != NULL ? vn_quant_plan_find (self->plan, name) : NULL;
}

static gboolean
run_find_integer_activation (const VnRun *self)
{
  for (guint i = 0; self->plan != NULL && i < vn_quant_plan_get_n (self->plan); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_get (self->plan, i);

      if (row->quantized && row->role == VN_TENSOR_ACTIVATION)
        return TRUE;
    }
  return FALSE;
}

/* Weights alone are quantized: nothing is left in float on purpose. */
static gboolean
run_has_integer_activations (VnRun *self)
{
  if (g_once_init_enter (&self->has_rounded))
    g_once_init_leave (&self->has_rounded, run_find_integer_activation (self) ? 2 : 1);
  return self->has_rounded == 2;
}

/* Whether a rule leaves the node in float; its output may be rounded nevertheless, for what reads it. */
static gboolean
run_excludes (VnRun        *self,
              const VnNode *node)
{
  if (self->source == NULL || self->recipe == NULL || node->graph != self->source->graph)
    return FALSE;
  if (g_once_init_enter (&self->deciding))
    g_once_init_leave (&self->deciding, vn_recipe_find_rules_of_nodes (self->recipe, self->source->graph));
  return self->deciding[node->index] >= 0
         && ((const VnOverride *) g_ptr_array_index (self->recipe->overrides, self->deciding[node->index]))->exclude;
}

/**
 * vn_run_get_node_dtype:
 * @source_node: of the model as opened
 *
 * Returns: the type that the node gives in the quantized network: of a node that takes part the one that is planned, of one that
 *   is left in float its own; %VN_DTYPE_UNDEFINED of what was no float tensor, and where no activation at all is quantized
 */
VnDType
vn_run_get_node_dtype (VnRun        *self,
                       const VnNode *source_node)
{
  const VnTensorPlan *plan;
  const VnValue *output;

  g_return_val_if_fail (self != NULL && source_node != NULL, VN_DTYPE_UNDEFINED);

  plan = vn_run_get_node_plan (self, source_node);
  output = source_node->outputs->len > 0 ? vn_node_get_output (source_node, 0) : NULL;
  if (plan != NULL && plan->quantized && !run_excludes (self, source_node))
    return plan->dtype;
  if (output == NULL || output->type.kind != VN_TYPE_TENSOR || !vn_dtype_is_float (output->type.dtype)
      || vn_node_is (source_node, "Constant"))
    return VN_DTYPE_UNDEFINED;
  return run_has_integer_activations (self) ? output->type.dtype : VN_DTYPE_UNDEFINED;
}

/**
 * vn_run_get_rated_error:
 * @source_node: of the model as opened
 *
 * The rule by which graph, legend, table, review and searches count nodes: a node counts by its error if that was measured and
 * the node takes part; a constant does not, nor does what is left in float, whatever error passes through it.
 *
 * Returns: (transfer none) (nullable): vn_run_get_node_error() of a node that counts
 */
const VnErrorRow *
vn_run_get_rated_error (VnRun        *self,
                        const VnNode *source_node)
{
  g_return_val_if_fail (self != NULL && source_node != NULL, NULL);

  if (vn_node_is (source_node, "Constant") || vn_dtype_is_float (vn_run_get_node_dtype (self, source_node)))
    return NULL;
  return vn_run_get_node_error (self, source_node);
}
