/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balancing channels: what each channel of a tensor is divided by follows from the ranges of its channels, and from the weights
 * that read them: with a the largest number of a channel as a share of the tensor's and w that of its weights as a share of
 * their row, the factor is a^e w^(e - 1), Xiao et al., "SmoothQuant" (2022), but at least a and at most 1. So no channel has a
 * larger step than before. For weights with one scale that is a power of two it is what balance-noise.c finds. Where nothing but
 * weights is quantized, a is the root of the mean square, and the factor a^e: weights that large channels multiply become larger
 * beside the others of their blocks, and their errors smaller, Lin et al., "AWQ" (2023). Which tensors stay balanced the outputs
 * on held-out samples decide. */
#include "vn-balance.h"

#include "balance-apply.h"
#include "balance-calibrate.h"
#include "balance-figures.h"
#include "balance-noise.h"
#include "balance-offsets.h"

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-resolver.h"

#include <math.h>
#include <string.h>

/* How small a factor may be, and how often the tensors are cut in halves to find those that do no good. */
#define LEAST_FACTOR (1.0 / 1024)
#define HALVINGS 4
#define HALVINGS_OF_DRAFT 2

/* Those that are tried. Without a judge there is no best one. */
static const double exponents_of_ranges[] = { 0.5, 0.75, 1 }, exponents_of_weights[] = { 0.25, 0.5, 0.75 };
#define N_EXPONENTS 3
#define MIDDLE 1
_Static_assert (G_N_ELEMENTS (exponents_of_ranges) == N_EXPONENTS && G_N_ELEMENTS (exponents_of_weights) == N_EXPONENTS,
                "as many");

/* Instead of an exponent: the factors of least noise. */
#define BY_NOISE 0.0

/* In dB: what is taken for an improvement when a change is taken back. */
#define LEAST_GAIN 0.05

typedef struct
{
  const VnBalanceInput *input;
  VnBalanceGraph       *graph;
  VnBalanceFigures      figures;
  VnStats              *plain, *balanced;    /* of the network as it is, and with all units balanced */
  gboolean             *chosen;              /* by unit */
  double                exponent;            /* that the factors follow from */
  VnJudgement           best;                /* of the network with what was best so far */
  VnRepairGain         *gain;
  GCancellable         *cancellable;
} Balance;

static void
balance_clear (Balance *self)
{
  g_clear_pointer (&self->graph, vn_balance_graph_free);
  g_clear_pointer (&self->plain, vn_stats_unref);
  g_clear_pointer (&self->balanced, vn_stats_unref);
  g_free (self->chosen);
  vn_judgement_clear (&self->best);
  vn_balance_figures_clear (&self->figures);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Balance, balance_clear)

/* ---- factors ---- */

static void
balance_set_factors (Balance *self,
                     double   exponent)
{
  for (guint i = 0; i < self->graph->channels->len; i++)
    {
      VnBalanceChannel *channel = &g_array_index (self->graph->channels, VnBalanceChannel, i);
      double a = fmax (channel->largest, LEAST_FACTOR);
      double wanted = pow (a, exponent) * (channel->weight > 0 ? pow (fmax (channel->weight, LEAST_FACTOR), exponent - 1) : 1);

      channel->factor = channel->parent == i && !channel->pinned && channel->largest > 0 ? fmin (fmax (wanted, a), 1) : 1;
    }
}

/* By one scale for all channels of a weight the largest of them decide; and it is a power of two. */
static gboolean
balance_goes_by_noise (const Balance *self)
{
  const VnRecipe *recipe = self->input->recipe;

  return recipe->balance_exponent == 0 && !vn_recipe_get_format (recipe)->weights_only &&
         vn_recipe_get_most (recipe, VN_LAYER_BALANCE_CHANNELS) == VN_BALANCE_CHANNELS_FOLDED &&
         !vn_recipe_has_channels (recipe) &&
         vn_recipe_get_power_of_two (recipe) != VN_POWER_OF_TWO_OFF;
}

static gboolean
balance_minimize_noise (Balance  *self,
                        GError  **error)
{
  g_autoptr(VnQuantPlan) plan = vn_quantize_resolve (self->input->prepared, self->input->recipe, self->plain, NULL, error);
  VnBalanceNoise noise = { plan, TRUE, self->figures.largest, self->figures.square };

  return plan != NULL && vn_balance_minimize_noise (self->graph, &noise, error);
}

static gboolean
balance_use_exponent (Balance  *self,
                      double    exponent,
                      GError  **error)
{
  if (exponent == BY_NOISE && !balance_minimize_noise (self, error))
    return FALSE;
  if (exponent != BY_NOISE)
    balance_set_factors (self, exponent);
  self->exponent = exponent;
  vn_balance_graph_number_units (self->graph);
  g_free (self->chosen);
  self->chosen = g_new0 (gboolean, self->graph->n_units + 1);
  return TRUE;
}

static const double *
balance_get_exponents (const Balance *self)
{
  return self->figures.of_weights ? exponents_of_weights : exponents_of_ranges;
}

static double
balance_get_first_exponent (const Balance *self)
{
  double said = self->input->recipe->balance_exponent;

  return said > 0 ? said : balance_goes_by_noise (self) ? BY_NOISE : balance_get_exponents (self)[MIDDLE];
}

/* ---- measuring ---- */

/* A tensor that was divided has other statistics under the same name. */
static const VnHistogram *
balance_lookup (const char *name,
                gpointer    data)
{
  Balance *self = data;
  const VnValue *value = g_hash_table_lookup (self->graph->graph->by_name, name);
  guint unit = value != NULL ? vn_balance_graph_get_unit (self->graph, value) : G_MAXUINT;
  const VnHistogram *found = value == NULL || (unit != G_MAXUINT && self->chosen[unit])
                             ? vn_stats_get (self->balanced, name) : NULL;

  return found != NULL ? found : vn_stats_get (self->plain, name);
}

/* @best: (nullable): what it must exceed to be of use */
static gboolean
balance_measure (Balance            *self,
                 const VnJudgement  *best,
                 VnJudgement        *judgement,
                 GError            **error)
{
  const VnBalanceInput *input = self->input;
  g_autoptr(VnModel) model = vn_balance_apply (input->prepared, self->graph, self->chosen, error);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) quantized = NULL;

  if (model == NULL)
    return FALSE;
  plan = vn_quantize_resolve_with (model, input->recipe, balance_lookup, self, NULL, error);
  quantized = plan != NULL ? vn_quantize_write (model, input->recipe, plan, NULL, error) : NULL;
  return quantized != NULL && vn_model_infer_for_samples (quantized, input->samples->shapes, error) &&
         vn_judge_measure_against (input->judge, quantized, best, LEAST_GAIN, judgement, self->cancellable, error);
}

static gboolean
balance_measure_first (Balance  *self,
                       double   *sqnr_db,
                       GError  **error)
{
  vn_judgement_clear (&self->best);
  if (!balance_measure (self, NULL, &self->best, error))
    return FALSE;
  *sqnr_db = self->best.sqnr_db;
  return TRUE;
}

/* @better: (out): than what was best so far, which it is from here on */
static gboolean
balance_is_better (Balance   *self,
                   gboolean  *better,
                   GError   **error)
{
  g_auto(VnJudgement) judgement = { 0 };

  if (!balance_measure (self, &self->best, &judgement, error))
    return FALSE;
  *better = !judgement.hopeless && judgement.sqnr_db >= self->gain->after_db + LEAST_GAIN;
  if (*better)
    {
      self->gain->after_db = judgement.sqnr_db;
      vn_judgement_take (&self->best, &judgement);
    }
  return TRUE;
}

/* ---- choosing ---- */

static void
balance_toggle (Balance *self,
                guint    first,
                guint    last)
{
  for (guint i = first; i < last; i++)
    self->chosen[i] = !self->chosen[i];
}

static gboolean
balance_try (Balance  *self,
             guint     first,
             guint     last,
             GError  **error)
{
  gboolean better;

  balance_toggle (self, first, last);
  if (!balance_is_better (self, &better, error))
    return FALSE;
  if (!better)
    balance_toggle (self, first, last);
  return TRUE;
}

/* Halves, then their halves: each the other way round than it is, if that is better. */
static gboolean
balance_choose (Balance  *self,
                GError  **error)
{
  guint n = self->graph->n_units, parts = 2, halvings = self->input->draft ? HALVINGS_OF_DRAFT : HALVINGS;

  for (guint depth = 1; depth <= halvings && parts <= 2 * n; depth++, parts *= 2)
    for (guint i = 0; i < parts; i++)
      {
        guint first = (guint) ((guint64) n * i / parts), last = (guint) ((guint64) n * (i + 1) / parts);

        if (first < last && !balance_try (self, first, last, error))
          return FALSE;
        vn_progress_report (self->input->progress, _("trials"), parts - 1 + i, 2 << halvings);
      }
  return TRUE;
}

/* ---- what it costs ---- */

typedef struct
{
  guint  unit;
  double cost, loss;     /* @loss: dB that are lost without it */
} Price;

static GArray *
balance_list_prices (Balance *self)
{
  GArray *prices = g_array_new (FALSE, TRUE, sizeof (Price));

  g_array_set_size (prices, self->graph->n_units);
  for (guint i = 0; i < prices->len; i++)
    g_array_index (prices, Price, i).unit = i;
  for (guint i = 0; i < self->graph->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->graph->values, i);
      guint unit = vn_balance_graph_get_unit (self->graph, value);

      if (unit != G_MAXUINT)
        g_array_index (prices, Price, unit).cost += vn_balance_estimate_value (self->graph, value);
    }
  return prices;
}

/* What brings least for its time comes first. */
static int
balance_compare_prices (gconstpointer a,
                        gconstpointer b)
{
  const Price *x = a, *y = b;
  double left = x->loss * y->cost, right = y->loss * x->cost;

  return left != right ? (left < right ? -1 : 1) : x->unit < y->unit ? -1 : 1;
}

static gboolean
balance_measure_losses (Balance  *self,
                        GArray   *prices,
                        GError  **error)
{
  for (guint i = 0; i < prices->len;)
    {
      Price *price = &g_array_index (prices, Price, i);
      g_auto(VnJudgement) without = { 0 };

      if (price->cost == 0 || !self->chosen[price->unit])
        {
          g_array_remove_index (prices, i);
          continue;
        }
      balance_toggle (self, price->unit, price->unit + 1);
      if (!balance_measure (self, NULL, &without, error))
        return FALSE;
      balance_toggle (self, price->unit, price->unit + 1);
      price->loss = fmax (self->gain->after_db - without.sqnr_db, 0);
      i++;
    }
  return TRUE;
}

/* Leaves out what brings least for its time until the rest costs no more than the recipe allows. */
static gboolean
balance_limit_cost (Balance  *self,
                    GError  **error)
{
  g_autoptr(GArray) prices = balance_list_prices (self);
  double left = 0, most = self->input->recipe->balance_cost * vn_balance_estimate_network (self->graph->graph);

  for (guint i = 0; i < prices->len; i++)
    left += self->chosen[i] ? g_array_index (prices, Price, i).cost : 0;
  if (left <= most)
    return TRUE;
  if (!balance_measure_losses (self, prices, error))
    return FALSE;
  g_array_sort (prices, balance_compare_prices);
  for (guint i = 0; i < prices->len && left > most; i++)
    {
      const Price *price = &g_array_index (prices, Price, i);

      self->chosen[price->unit] = FALSE;
      left -= price->cost;
    }
  return balance_measure_first (self, &self->gain->after_db, error);
}

/* With less than all of it, plain may be better again. */
static gboolean
balance_keep_if_better (Balance *self)
{
  if (self->gain->after_db >= self->gain->before_db)
    return TRUE;
  for (guint i = 0; i < self->graph->n_units; i++)
    self->chosen[i] = FALSE;
  self->gain->after_db = self->gain->before_db;
  return TRUE;
}

static gboolean
balance_calibrate_balanced (Balance  *self,
                            GError  **error)
{
  g_autoptr(VnModel) all = NULL;

  g_clear_pointer (&self->balanced, vn_stats_unref);
  if (self->figures.of_weights)
    {
      self->balanced = vn_stats_new_empty ();
      return TRUE;
    }
  all = vn_balance_apply (self->input->prepared, self->graph, NULL, error);
  self->balanced = all != NULL ? vn_balance_calibrate (self->input, all, self->cancellable, error) : NULL;
  return self->balanced != NULL;
}

/* All units at once with @exponent: whether that is better than what was best so far. */
static gboolean
balance_try_exponent (Balance  *self,
                      double    exponent,
                      double   *best,
                      GError  **error)
{
  double before = self->gain->after_db;

  if (!balance_use_exponent (self, exponent, error))
    return FALSE;
  if (self->graph->n_units == 0)
    return TRUE;
  if (!balance_calibrate_balanced (self, error) || !balance_try (self, 0, self->graph->n_units, error))
    return FALSE;
  if (self->gain->after_db > before || *best < 0)
    *best = exponent;
  return TRUE;
}

/* With the exponent that the recipe says, or the best of several; whether all at once is better or not. */
static gboolean
balance_choose_exponent (Balance  *self,
                         GError  **error)
{
  double said = balance_goes_by_noise (self) ? BY_NOISE : self->input->recipe->balance_exponent, best = -1, last = said;
  gboolean one = said > 0 || balance_goes_by_noise (self), better;

  if (!balance_measure_first (self, &self->gain->before_db, error))
    return FALSE;
  self->gain->after_db = self->gain->before_db;
  for (guint i = 0; i < (one ? 1 : N_EXPONENTS); i++)
    {
      last = one ? said : balance_get_exponents (self)[i];
      if (!balance_try_exponent (self, last, &best, error))
        return FALSE;
    }
  better = self->gain->after_db > self->gain->before_db;
  if (best >= 0 && best != last)
    {
      if (!balance_use_exponent (self, best, error) || !balance_calibrate_balanced (self, error))
        return FALSE;
      if (better)
        balance_toggle (self, 0, self->graph->n_units);
    }
  return TRUE;
}

/* By channel: whether its unit is chosen. Other factors make other units. */
static gboolean *
balance_list_chosen (const Balance *self)
{
  gboolean *list = g_new0 (gboolean, self->graph->channels->len + 1);

  for (guint i = 0; i < self->graph->channels->len; i++)
    {
      guint unit = g_array_index (self->graph->channels, VnBalanceChannel, i).unit;

      list[i] = unit != G_MAXUINT && self->chosen[unit];
    }
  return list;
}

static gboolean
balance_take_exponent (Balance         *self,
                       double           exponent,
                       const gboolean  *chosen,
                       GError         **error)
{
  if (!balance_use_exponent (self, exponent, error))
    return FALSE;
  for (guint i = 0; i < self->graph->channels->len; i++)
    {
      guint unit = g_array_index (self->graph->channels, VnBalanceChannel, i).unit;

      if (chosen[i] && unit != G_MAXUINT)
        self->chosen[unit] = TRUE;
    }
  return balance_calibrate_balanced (self, error);
}

/* All at once, the worst units decide which exponent is the best: for those that were chosen another one may be. */
static gboolean
balance_choose_exponent_again (Balance  *self,
                               GError  **error)
{
  g_autofree gboolean *chosen = balance_list_chosen (self);
  double first = self->exponent, best = first;
  gboolean any = FALSE, better;

  for (guint i = 0; i < self->graph->n_units; i++)
    any = any || self->chosen[i];
  if (!any || self->input->recipe->balance_exponent > 0 || balance_goes_by_noise (self))
    return TRUE;
  for (guint i = 0; i < N_EXPONENTS; i++)
    {
      const double exponent = balance_get_exponents (self)[i];

      if (exponent == first)
        continue;
      if (!balance_take_exponent (self, exponent, chosen, error) || !balance_is_better (self, &better, error))
        return FALSE;
      best = better ? exponent : best;
    }
  return self->exponent == best || balance_take_exponent (self, best, chosen, error);
}

static VnModel *
balance_channels (const VnBalanceInput  *input,
                  VnStats               *plain,
                  VnRepairGain          *gain,
                  GCancellable          *cancellable,
                  GError               **error)
{
  g_auto(Balance) self = { .input = input, .plain = vn_stats_ref (plain), .gain = gain, .cancellable = cancellable };

  self.graph = vn_balance_graph_new (input->prepared->graph, input->recipe);
  self.figures = (VnBalanceFigures) { .input = input, .graph = self.graph, .plain = plain,
                                      .of_weights = vn_recipe_get_format (input->recipe)->weights_only,
                                      .squares = balance_goes_by_noise (&self), .cancellable = cancellable };
  if (!vn_balance_figures_find (&self.figures, error) || !balance_use_exponent (&self, balance_get_first_exponent (&self), error))
    return NULL;
  if (self.graph->n_units == 0)
    return vn_model_copy (input->prepared);
  if (input->judge == NULL)
    balance_toggle (&self, 0, self.graph->n_units);
  else if (!balance_choose_exponent (&self, error) || !balance_choose (&self, error) ||
           !balance_choose_exponent_again (&self, error) || !balance_limit_cost (&self, error) ||
           !balance_keep_if_better (&self))
    return NULL;
  gain->n_tried = self.graph->n_units;
  for (guint i = 0; i < self.graph->n_units; i++)
    gain->n_kept += self.chosen[i];
  return vn_balance_apply (input->prepared, self.graph, self.chosen, error);
}

/**
 * vn_balance_channels:
 * @gain: (out): what it has brought; counts tensors, or groups of them that have factors in common, and tensors that had an
 * offset
 *
 * Where nothing but weights is quantized, tensors stay where they are.
 *
 * Returns: (transfer full) (nullable): @prepared, computing the same with tensors around 0 and channels of more even size; clamps
 *   of channels that never reach them may have moved down, to where the samples leave room; %NULL with an error
 */
VnModel *
vn_balance_channels (const VnBalanceInput  *input,
                     VnRepairGain          *gain,
                     GCancellable          *cancellable,
                     GError               **error)
{
  VnBalanceInput centred;
  VnRepairGain offsets = { 0 };
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnStats) stats = NULL;
  VnModel *balanced;

  g_return_val_if_fail (input != NULL && input->prepared != NULL && input->samples != NULL && gain != NULL, NULL);

  *gain = (VnRepairGain) { 0 };
  if (vn_recipe_get_format (input->recipe)->weights_only)
    {
      stats = vn_stats_new_empty ();
      return balance_channels (input, stats, gain, cancellable, error);
    }
  model = vn_balance_take_offsets (input, &stats, &offsets, cancellable, error);
  if (model == NULL)
    return NULL;
  centred = *input;
  centred.prepared = model;
  balanced = balance_channels (&centred, stats, gain, cancellable, error);
  if (offsets.n_kept > 0)
    {
      gain->before_db = offsets.before_db;
      gain->after_db = gain->n_tried > 0 ? MAX (gain->after_db, offsets.after_db) : offsets.after_db;
    }
  gain->n_tried += offsets.n_tried;
  gain->n_kept += offsets.n_kept;
  return balanced;
}
