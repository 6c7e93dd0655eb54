/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices and what they come to: noise of several tensors adds up at the outputs; curve-collect.c finds what there is to choose. */
#include "curve-choices-private.h"

#include "vn-cure.h"
#include "vn-error-sum.h"
#include "vn-format-traits.h"
#include "vn-quant-plan.h"

#include <math.h>
#include <string.h>

static void
choices_clear_item (gpointer data)
{
  VnCurveItem *self = data;

  g_ptr_array_unref (self->names);
  g_free (self->noise);
  g_free (self->squares);
  g_free (self->differences);
}

/**
 * vn_curve_choices_free:
 */
void
vn_curve_choices_free (VnCurveChoices *self)
{
  if (self == NULL)
    return;
  vn_choices_free (self->choices);
  g_array_unref (self->items);
  g_free (self->rest);
  g_free (self->rest_squares);
  g_free (self->rest_differences);
  g_free (self);
}

/* ---- types ---- */

/**
 * vn_curve_get_wide_type:
 *
 * Returns: what activations get where 16 bit are computed on integers; %VN_DTYPE_UNDEFINED: they are left in float
 */
VnDType
vn_curve_get_wide_type (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, VN_DTYPE_UNDEFINED);

  return (vn_recipe_get_target (recipe)->traits & VN_TARGET_HAS_SIXTEEN) != 0 && vn_cure_can_widen (recipe) ? vn_cure_widen (recipe->activation)
                                                                                                           : VN_DTYPE_UNDEFINED;
}

/**
 * vn_curve_get_other_weight:
 *
 * Returns: the type of 4 bit that weights can have instead of one of 8, or the other way; %VN_DTYPE_UNDEFINED: none
 */
VnDType
vn_curve_get_other_weight (const VnRecipe *recipe)
{
  static const VnDType pairs[][2] = { { VN_DTYPE_S8, VN_DTYPE_S4 }, { VN_DTYPE_U8, VN_DTYPE_U4 } };

  g_return_val_if_fail (recipe != NULL, VN_DTYPE_UNDEFINED);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (pairs); i++)
    if (recipe->weight == pairs[i / 2][i % 2] && (vn_format_get_traits (recipe->format)->weights & (G_GUINT64_CONSTANT (1) << pairs[i / 2][1 - i % 2])) != 0)
      return pairs[i / 2][1 - i % 2];
  return VN_DTYPE_UNDEFINED;
}

/* ---- noise ---- */

/* Adds what @item takes away, or takes it off. */
static void
choices_change (const VnCurveChoices *self,
                const VnCurveItem    *item,
                int                   sign,
                double               *noise,
                double               *squares,
                float                *differences)
{
  for (guint o = 0; o < self->n_outputs; o++)
    {
      noise[o] += sign * item->noise[o];
      squares[o] += sign * item->squares[o];
    }
  for (gsize i = 0; i < self->n_differences; i++)
    differences[i] += (float) sign * item->differences[i];
}

/* ---- all ---- */

static GHashTable *
choices_index_noise (VnContributions *contributions)
{
  GHashTable *index = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < vn_contributions_get_n (contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, i);

      if (item->noise != NULL)
        g_hash_table_insert (index, item->name, (gpointer) item);
    }
  return index;
}

/* Noise that is there whatever is chosen. */
static void
choices_find_rest (VnCurveBuild *self)
{
  VnCurveChoices *choices = self->choices;
  g_autofree gboolean *plain = vn_curve_choices_make_plain (choices);
  g_autofree double *all = g_new0 (double, choices->n_outputs + 1);

  choices->rest = g_new0 (double, choices->n_outputs + 1);
  choices->rest_squares = g_new0 (double, choices->n_outputs + 1);
  choices->rest_differences = g_new0 (float, choices->n_differences + 1);
  for (guint i = 0; i < vn_contributions_get_n (choices->network->contributions); i++)
    if (vn_contributions_get (choices->network->contributions, i)->noise != NULL)
      _vn_curve_sum_up (choices, vn_contributions_get (choices->network->contributions, i), 1, choices->rest, choices->rest_squares,
                        choices->rest_differences);
  memcpy (all, choices->rest, choices->n_outputs * sizeof *all);
  for (guint i = 0; i < choices->items->len; i++)
    if (!plain[i])
      choices_change (choices, _vn_curve_get_item (choices, i), -1, choices->rest, choices->rest_squares, choices->rest_differences);
  for (guint o = 0; o < choices->n_outputs; o++)
    if (choices->rest[o] < 1e-9 * all[o])   /* what rounding leaves */
      choices->rest[o] = choices->rest_squares[o] = 0;
}

/* A tensor that is not computed has no noise at any output. */
static void
choices_count_outputs (VnCurveChoices  *self,
                       VnContributions *contributions)
{
  for (guint i = 0; i < vn_contributions_get_n (contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, i);

      self->n_outputs = MAX (self->n_outputs, item->noise != NULL ? item->noise->len : 0);
      self->n_differences = MAX (self->n_differences, item->differences != NULL ? item->differences->len : 0);
      self->n_numbers = MAX (self->n_numbers, item->n_numbers);
    }
  if (self->n_numbers == 0)
    self->n_differences = 0;
}

/**
 * vn_curve_choices_new:
 * @network: borrowed: must outlive what is returned
 */
VnCurveChoices *
vn_curve_choices_new (const VnCurveNetwork *network,
                      VnCurveCost           cost)
{
  VnCurveChoices *self;
  VnCurveBuild build = { NULL };

  g_return_val_if_fail (network != NULL && network->plan != NULL && network->contributions != NULL && network->floats != NULL, NULL);

  self = g_new0 (VnCurveChoices, 1);
  self->network = network;
  self->cost = cost;
  self->choices = vn_choices_new ();
  self->items = g_array_new (FALSE, FALSE, sizeof (VnCurveItem));
  g_array_set_clear_func (self->items, choices_clear_item);
  choices_count_outputs (self, network->contributions);
  build = (VnCurveBuild) { .choices = self, .graph = network->prepared->graph, .wide = vn_curve_get_wide_type (network->recipe) };
  build.unit_of = g_new0 (guint, build.graph->nodes->len + 1);
  build.item_of = g_new0 (int, build.graph->nodes->len + 1);
  build.noise = choices_index_noise (network->contributions);
  build.other_noise = network->other != NULL ? choices_index_noise (network->other) : NULL;
  _vn_curve_collect (&build);
  choices_find_rest (&build);
  g_hash_table_unref (build.noise);
  g_clear_pointer (&build.other_noise, g_hash_table_unref);
  g_free (build.unit_of);
  g_free (build.item_of);
  return self;
}

/**
 * vn_curve_choices_make_plain:
 *
 * Returns: (transfer full) (array): what the recipe itself takes
 */
gboolean *
vn_curve_choices_make_plain (VnCurveChoices *self)
{
  gboolean *taken;

  g_return_val_if_fail (self != NULL, NULL);

  taken = g_new0 (gboolean, self->items->len + 1);
  for (guint i = 0; i < self->items->len; i++)
    taken[i] = _vn_curve_get_item (self, i)->kind == VN_CURVE_ITEM_BITS && !_vn_curve_get_item (self, i)->small;
  return taken;
}

/* ---- prediction ---- */

static void
choices_add_up (VnCurveChoices *self,
                const gboolean *taken,
                double         *noise)
{
  memcpy (noise, self->rest, self->n_outputs * sizeof *noise);
  for (guint i = 0; i < self->items->len; i++)
    for (guint o = 0; o < self->n_outputs && !taken[i]; o++)
      noise[o] += _vn_curve_get_item (self, i)->noise[o];
}

/* How much more, or less, noise comes together at an output than adds up, as differences of tensors are alike or cancel out. */
static void
choices_mix (VnCurveChoices *self,
             const gboolean *taken,
             double         *noise)
{
  g_autofree float *differences = g_memdup2 (self->rest_differences, (self->n_differences + 1) * sizeof (float));
  g_autofree double *apart = g_memdup2 (self->rest_squares, (self->n_outputs + 1) * sizeof (double));
  g_autofree double *together = g_new0 (double, self->n_outputs + 1);
  g_autofree double *sum = g_new0 (double, self->n_outputs + 1);

  for (guint i = 0; i < self->items->len; i++)
    if (!taken[i])
      choices_change (self, _vn_curve_get_item (self, i), 1, sum, apart, differences);
  for (gsize i = 0; i < self->n_differences; i++)
    together[i / self->n_numbers % self->n_outputs] += (double) differences[i] * (double) differences[i];
  for (guint o = 0; o < self->n_outputs; o++)
    if (apart[o] > 0 && together[o] > 0)
      noise[o] *= together[o] / apart[o];
}

/**
 * vn_curve_choices_predict:
 * @mixed: errors that are alike at an output count more than if they just added up, those that cancel out less: true where layers shift
 *   outputs alike, mere chance where outputs have few numbers
 *
 * Returns: mean signal to noise of the outputs, in dB, to first order
 */
double
vn_curve_choices_predict (VnCurveChoices *self,
                          const gboolean *taken,
                          gboolean        mixed)
{
  g_autofree double *noise = NULL;
  double sum = 0;

  g_return_val_if_fail (self != NULL && taken != NULL, NAN);

  noise = g_new0 (double, self->n_outputs + 1);
  choices_add_up (self, taken, noise);
  if (mixed)
    choices_mix (self, taken, noise);
  for (guint o = 0; o < self->n_outputs; o++)
    sum += vn_sqnr_bound (noise[o] > 0 ? -10 * log10 (noise[o]) : INFINITY, 0);
  return self->n_outputs > 0 ? sum / self->n_outputs : vn_sqnr_bound (INFINITY, 0);
}

/* What an output weighs falls with the noise it has: gains are those at the error that @taken leaves. */
static void
choices_weigh (VnCurveChoices *self,
               const gboolean *taken)
{
  g_autofree double *noise = g_new0 (double, self->n_outputs + 1);

  choices_add_up (self, taken, noise);
  for (guint i = 0; i < self->items->len; i++)
    {
      double gain = 0;

      for (guint o = 0; o < self->n_outputs; o++)
        gain += noise[o] > 0 ? _vn_curve_get_item (self, i)->noise[o] / noise[o] : 0;
      vn_choices_set_gain (self->choices, i, gain);
    }
}

static void
choices_take_path (VnCurveChoices *self,
                   GHashTable     *seen,
                   GPtrArray      *found)
{
  g_autoptr(GPtrArray) path = vn_choices_find_path (self->choices);

  for (guint i = 0; i < path->len; i++)
    {
      const VnChoiceSet *set = g_ptr_array_index (path, i);
      GString *key = g_string_new (NULL);

      for (guint k = 0; k < self->items->len; k++)
        g_string_append_c (key, set->taken[k] ? '1' : '0');
      if (g_hash_table_add (seen, g_string_free (key, FALSE)))
        g_ptr_array_add (found, g_memdup2 (set->taken, self->items->len * sizeof *set->taken));
    }
}

/* Networks with several outputs are looked at again where a part of the way is done. */
static const double choices_parts[] = { 0.25, 0.5, 0.75 };

/**
 * vn_curve_choices_list:
 *
 * Returns: (transfer full) (element-type gboolean*): what is worth a point
 */
GPtrArray *
vn_curve_choices_list (VnCurveChoices *self)
{
  g_autoptr(GHashTable) seen = NULL;
  g_autofree gboolean *plain = NULL;
  GPtrArray *found;
  guint first;

  g_return_val_if_fail (self != NULL, NULL);

  seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  found = g_ptr_array_new_with_free_func (g_free);
  plain = vn_curve_choices_make_plain (self);
  choices_weigh (self, plain);
  choices_take_path (self, seen, found);
  first = found->len;
  for (guint i = 0; i < G_N_ELEMENTS (choices_parts) && self->n_outputs > 1 && first > 0; i++)
    {
      choices_weigh (self, g_ptr_array_index (found, (guint) (choices_parts[i] * (first - 1))));
      choices_take_path (self, seen, found);
    }
  return found;
}

/* ---- recipes ---- */

static void
choices_add_rule (VnRecipe  *recipe,
                  GPtrArray *names,
                  gboolean   exclude,
                  VnDType    activation,
                  VnDType    weight)
{
  VnOverride *rule;

  if (names->len == 0)
    return;
  rule = vn_override_new ();
  rule->exclude = exclude;
  rule->activation = activation;
  rule->weight = weight;
  rule->tensors = g_new0 (char *, names->len + 1);
  for (guint i = 0; i < names->len; i++)
    rule->tensors[i] = g_strdup (g_ptr_array_index (names, i));
  g_ptr_array_add (recipe->overrides, rule);
}

static void
choices_append (GPtrArray       *names,
                const GPtrArray *more)
{
  for (guint i = 0; i < more->len; i++)
    g_ptr_array_add (names, g_ptr_array_index (more, i));
}

/**
 * vn_curve_choices_fill:
 * @point: gets its recipe, and how many tensors that speaks of
 */
void
vn_curve_choices_fill (VnCurveChoices *self,
                       const gboolean *taken,
                       VnCurvePoint   *point)
{
  g_autoptr(GPtrArray) activations = g_ptr_array_new ();
  g_autoptr(GPtrArray) floats = g_ptr_array_new ();
  g_autoptr(GPtrArray) bits = g_ptr_array_new ();
  VnDType wide, other;

  g_return_if_fail (self != NULL && taken != NULL && point != NULL);

  wide = vn_curve_get_wide_type (self->network->recipe);
  other = self->network->other_weight;
  for (guint i = 0; i < self->items->len; i++)
    {
      const VnCurveItem *item = _vn_curve_get_item (self, i);

      if (item->kind == VN_CURVE_ITEM_BITS && taken[i] == item->small)
        choices_append (bits, item->names);
      else if (item->kind == VN_CURVE_ITEM_WEIGHT && taken[i])
        choices_append (floats, item->names);
      else if (item->kind == VN_CURVE_ITEM_TENSOR && taken[i])
        choices_append (activations, item->names);
      else if (item->kind == VN_CURVE_ITEM_UNIT && taken[i] && wide == VN_DTYPE_UNDEFINED)
        choices_append (floats, item->names);
      point->n_small += item->kind == VN_CURVE_ITEM_BITS && !taken[i];
      point->n_float += (item->kind == VN_CURVE_ITEM_WEIGHT || item->kind == VN_CURVE_ITEM_TENSOR) && taken[i] && wide == VN_DTYPE_UNDEFINED ? item->names->len : 0;
      point->n_wide += item->kind == VN_CURVE_ITEM_TENSOR && taken[i] && wide != VN_DTYPE_UNDEFINED ? item->names->len : 0;
    }
  point->recipe = vn_recipe_copy (self->network->recipe);
  if (wide == VN_DTYPE_UNDEFINED)
    choices_append (floats, activations);
  else
    choices_add_rule (point->recipe, activations, FALSE, wide, VN_DTYPE_UNDEFINED);
  choices_add_rule (point->recipe, floats, TRUE, VN_DTYPE_UNDEFINED, VN_DTYPE_UNDEFINED);
  choices_add_rule (point->recipe, bits, FALSE, VN_DTYPE_UNDEFINED, other);
}
