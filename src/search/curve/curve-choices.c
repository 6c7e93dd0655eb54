/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices and what they come to: noise of several tensors adds up at the outputs; curve-collect.c finds what there is to
 * choose. */
#include "curve-choices-private.h"

#include "vn-cure.h"
#include "vn-error-sum.h"
#include "vn-quant-scheme.h"
#include "vn-recipe-change.h"
#include "vn-quant-plan.h"

#include <math.h>
#include <string.h>

static void
choices_clear_errors (VnCurveErrors *self)
{
  g_free (self->squares);
  g_free (self->differences);
}

static void
choices_clear_item (gpointer data)
{
  VnCurveItem *self = data;

  g_ptr_array_unref (self->names);
  g_free (self->noise);
  choices_clear_errors (&self->errors);
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
  for (guint g = 0; g < VN_CURVE_N_GROUPS; g++)
    choices_clear_errors (&self->rest_errors[g]);
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

  return (vn_recipe_get_facts (recipe) & VN_RECIPE_SIXTEEN) != 0 ? vn_cure_get_wide_type (recipe) : VN_DTYPE_UNDEFINED;
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

  VnQuantScheme scheme;
  VnDTypeSet taken;

  g_return_val_if_fail (recipe != NULL, VN_DTYPE_UNDEFINED);

  vn_quant_scheme_init (&scheme, recipe);
  taken = vn_recipe_get_target (recipe)->weights;
  taken = scheme.format->weights & (taken != 0 ? taken : ~(VnDTypeSet) 0);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (pairs); i++)
    if (scheme.weights.dtype == pairs[i / 2][i % 2] && (taken >> pairs[i / 2][1 - i % 2] & 1) != 0)
      return pairs[i / 2][1 - i % 2];
  return VN_DTYPE_UNDEFINED;
}

/* ---- noise ---- */

static void
choices_add_errors (const VnCurveChoices *self,
                    const VnCurveErrors  *from,
                    float                 sign,
                    VnCurveErrors        *to)
{
  for (guint o = 0; o < self->n_outputs; o++)
    to->squares[o] += (double) sign * from->squares[o];
  for (gsize i = 0; i < self->n_differences; i++)
    to->differences[i] += sign * from->differences[i];
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
  g_autofree double *all = NULL;

  choices->rest = g_new0 (double, choices->n_outputs + 1);
  for (guint g = 0; g < VN_CURVE_N_GROUPS; g++)
    _vn_curve_errors_init (&choices->rest_errors[g], choices);
  for (guint i = 0; i < vn_contributions_get_n (choices->network->contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (choices->network->contributions, i);

      if (item->noise != NULL)
        _vn_curve_sum_up (choices, item, 1, choices->rest, &choices->rest_errors[item->role == VN_TENSOR_ACTIVATION]);
    }
  all = g_memdup2 (choices->rest, (choices->n_outputs + 1) * sizeof *all);
  for (guint i = 0; i < choices->items->len; i++)
    {
      const VnCurveItem *item = _vn_curve_get_item (choices, i);

      for (guint o = 0; o < choices->n_outputs && !plain[i]; o++)
        choices->rest[o] -= item->noise[o];
      if (!plain[i])
        choices_add_errors (choices, &item->errors, -1, &choices->rest_errors[item->group]);
    }
  for (guint o = 0; o < choices->n_outputs; o++)
    if (choices->rest[o] < 1e-9 * all[o])   /* what rounding leaves */
      choices->rest[o] = choices->rest_errors[0].squares[o] = choices->rest_errors[1].squares[o] = 0;
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

  g_return_val_if_fail (network != NULL && network->plan != NULL && network->contributions != NULL && network->floats != NULL,
                        NULL);

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

static double
choices_get_db (const VnCurveChoices *self,
                const double         *noise)
{
  double sum = 0;

  for (guint o = 0; o < self->n_outputs; o++)
    sum += vn_sqnr_bound (noise[o] > 0 ? -10 * log10 (noise[o]) : INFINITY, 0);
  return self->n_outputs > 0 ? sum / self->n_outputs : vn_sqnr_bound (INFINITY, 0);
}

/**
 * vn_curve_choices_predict:
 *
 * Returns: mean signal to noise of the outputs, in dB, to first order, if errors of several tensors have nothing to do with each
 * other
 */
double
vn_curve_choices_predict (VnCurveChoices *self,
                          const gboolean *taken)
{
  g_autofree double *noise = NULL;

  g_return_val_if_fail (self != NULL && taken != NULL, NAN);

  noise = g_new0 (double, self->n_outputs + 1);
  choices_add_up (self, taken, noise);
  return choices_get_db (self, noise);
}

/* How much weight products of differences have, by model: within each group, and between them. */
static const struct { double within[VN_CURVE_N_GROUPS], between; } choices_models[] = {
  { { 0, 0 }, 0 }, { { 1, 0 }, 0 }, { { 1, 0 }, 1 }, { { 1, 1 }, 1 }, { { 0.5, 0.5 }, 0.5 },
};

G_STATIC_ASSERT (G_N_ELEMENTS (choices_models) == VN_CURVE_N_MODELS);

/* However much cancels out, so much of what adds up stays. */
#define LEAST_LEFT 0.02

/* Squares of sums of differences, by output: of each group, and products between them. */
static void
choices_multiply (const VnCurveChoices *self,
                  const VnCurveErrors  *groups,
                  double               *within[VN_CURVE_N_GROUPS],
                  double               *between)
{
  for (gsize i = 0; i < self->n_differences; i++)
    {
      guint o = (guint) (i / self->n_numbers % self->n_outputs);
      double a = groups[0].differences[i], b = groups[1].differences[i];

      within[0][o] += a * a;
      within[1][o] += b * b;
      between[o] += 2 * a * b;
    }
}

static void
choices_sum_groups (const VnCurveChoices *self,
                    const gboolean       *taken,
                    VnCurveErrors        *groups)
{
  for (guint g = 0; g < VN_CURVE_N_GROUPS; g++)
    {
      _vn_curve_errors_init (&groups[g], self);
      choices_add_errors (self, &self->rest_errors[g], 1, &groups[g]);
    }
  for (guint i = 0; i < self->items->len; i++)
    if (!taken[i] && _vn_curve_get_item (self, i)->kind != VN_CURVE_ITEM_UNIT)
      choices_add_errors (self, &_vn_curve_get_item (self, i)->errors, 1, &groups[_vn_curve_get_item (self, i)->group]);
}

/**
 * vn_curve_choices_sum_up:
 *
 * Errors of weights are the same for each sample, those of activations are chance, but where they are clipped; in an output of
 * few numbers all may be alike, or seem so by chance. Which model is true is to be told from what is measured.
 *
 * Returns: what @taken comes to by each model
 */
VnCurveSums
vn_curve_choices_sum_up (VnCurveChoices *self,
                         const gboolean *taken)
{
  VnCurveSums sums = { { NAN }, 0 };
  VnCurveErrors groups[VN_CURVE_N_GROUPS];
  g_autofree double *noise = NULL, *first = NULL, *second = NULL, *between = NULL, *mixed = NULL;
  double *within[VN_CURVE_N_GROUPS];

  g_return_val_if_fail (self != NULL && taken != NULL, sums);

  noise = g_new0 (double, self->n_outputs + 1);
  mixed = g_new0 (double, self->n_outputs + 1);
  within[0] = first = g_new0 (double, self->n_outputs + 1);
  within[1] = second = g_new0 (double, self->n_outputs + 1);
  between = g_new0 (double, self->n_outputs + 1);
  choices_add_up (self, taken, noise);
  choices_sum_groups (self, taken, groups);
  choices_multiply (self, groups, within, between);
  for (guint m = 0; m < VN_CURVE_N_MODELS; m++)
    {
      for (guint o = 0; o < self->n_outputs; o++)
        {
          double apart = groups[0].squares[o] + groups[1].squares[o], together = apart + choices_models[m].between * between[o];

          for (guint g = 0; g < VN_CURVE_N_GROUPS; g++)
            together += choices_models[m].within[g] * (within[g][o] - groups[g].squares[o]);
          mixed[o] = apart > 0 ? noise[o] * MAX (together / apart, LEAST_LEFT) : noise[o];
        }
      sums.db[m] = choices_get_db (self, mixed);
    }
  for (guint g = 0; g < VN_CURVE_N_GROUPS; g++)
    choices_clear_errors (&groups[g]);
  return sums;
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
  vn_recipe_take_rule (recipe, rule);
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
      point->n_float += (item->kind == VN_CURVE_ITEM_WEIGHT || item->kind == VN_CURVE_ITEM_TENSOR) && taken[i] &&
                        wide == VN_DTYPE_UNDEFINED ? item->names->len : 0;
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
