/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing for a price, against trying all sets. */
#include "vn-choices.h"

#include <math.h>

#define MOST 14u

typedef struct
{
  guint    n;
  double   gain[MOST], cost[MOST];
  gboolean requires[MOST][MOST];
} Case;

/* Tensors gain and require the layers around them, which cost; some tensors save conversions. */
static void
choices_draw (GRand *rand,
              Case  *on)
{
  guint n_layers = (guint) g_rand_int_range (rand, 2, 6), n_tensors = (guint) g_rand_int_range (rand, 2, 8);

  *on = (Case) { .n = n_layers + n_tensors };
  for (guint i = 0; i < n_layers; i++)
    on->cost[i] = g_rand_int_range (rand, 0, 4) == 0 ? -g_rand_double (rand) : 3 * g_rand_double (rand);
  for (guint i = n_layers; i < on->n; i++)
    {
      on->gain[i] = exp (4 * g_rand_double (rand));
      on->cost[i] = g_rand_int_range (rand, 0, 2) == 0 ? -0.3 * g_rand_double (rand) : 0;
      for (guint k = 0; k < n_layers; k++)
        on->requires[i][k] = g_rand_int_range (rand, 0, 3) == 0;
    }
}

static VnChoices *
choices_make (const Case *on)
{
  VnChoices *choices = vn_choices_new ();

  for (guint i = 0; i < on->n; i++)
    g_assert_cmpuint (vn_choices_add (choices, on->gain[i], on->cost[i]), ==, i);
  for (guint i = 0; i < on->n; i++)
    for (guint k = 0; k < on->n; k++)
      if (on->requires[i][k])
        vn_choices_require (choices, i, k);
  return choices;
}

static gboolean
choices_is_closed (const Case *on,
                   guint       bits)
{
  for (guint i = 0; i < on->n; i++)
    for (guint k = 0; k < on->n; k++)
      if ((bits >> i & 1) != 0 && on->requires[i][k] && (bits >> k & 1) == 0)
        return FALSE;
  return TRUE;
}

static void
choices_add_up (const Case *on,
                guint       bits,
                double     *gain,
                double     *cost)
{
  *gain = *cost = 0;
  for (guint i = 0; i < on->n; i++)
    if ((bits >> i & 1) != 0)
      {
        *gain += on->gain[i];
        *cost += on->cost[i];
      }
}

/* The most that any set gains for so much. */
static double
choices_try_all (const Case *on,
                 double      budget)
{
  double best = -INFINITY;

  for (guint bits = 0; bits < 1u << on->n; bits++)
    {
      double gain, cost;

      if (!choices_is_closed (on, bits))
        continue;
      choices_add_up (on, bits, &gain, &cost);
      if (cost <= budget + 1e-9)
        best = MAX (best, gain);
    }
  return best;
}

static guint
choices_get_bits (const Case        *on,
                  const VnChoiceSet *set)
{
  guint bits = 0;

  for (guint i = 0; i < on->n; i++)
    bits |= set->taken[i] ? 1u << i : 0;
  return bits;
}

static void
choices_check_set (const Case        *on,
                   const VnChoiceSet *set)
{
  double gain, cost;

  g_assert_true (choices_is_closed (on, choices_get_bits (on, set)));
  choices_add_up (on, choices_get_bits (on, set), &gain, &cost);
  g_assert_cmpfloat_with_epsilon (gain, set->gain, 1e-9);
  g_assert_cmpfloat_with_epsilon (cost, set->cost, 1e-9);
}

static void
test_hull (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);
  guint n_between = 0;

  for (guint round = 0; round < 60; round++)
    {
      Case on;
      g_autoptr(VnChoices) choices = NULL;
      g_autoptr(GPtrArray) hull = NULL;
      const VnChoiceSet *set, *before = NULL;

      choices_draw (rand, &on);
      choices = choices_make (&on);
      hull = vn_choices_find_hull (choices);
      g_assert_cmpuint (hull->len, >, 0);
      for (guint i = 0; i < hull->len; i++, before = set)
        {
          set = g_ptr_array_index (hull, i);
          choices_check_set (&on, set);
          g_assert_cmpfloat_with_epsilon (choices_try_all (&on, set->cost), set->gain, 1e-9);
          if (before != NULL)
            g_assert_cmpfloat (set->cost, >, before->cost);
          n_between += before != NULL;
        }
      g_assert_cmpfloat_with_epsilon (choices_try_all (&on, INFINITY), before->gain, 1e-9);
    }
  g_assert_cmpuint (n_between, >, 60);
}

/* Nothing lies above the line between two corners: so no corner is missing. */
static void
test_no_corner_missing (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (8);
  guint n_compared = 0;

  for (guint round = 0; round < 40; round++)
    {
      Case on;
      g_autoptr(VnChoices) choices = NULL;
      g_autoptr(GPtrArray) hull = NULL;

      choices_draw (rand, &on);
      choices = choices_make (&on);
      hull = vn_choices_find_hull (choices);
      for (guint i = 1; i < hull->len; i++)
        {
          const VnChoiceSet *low = g_ptr_array_index (hull, i - 1), *high = g_ptr_array_index (hull, i);

          for (guint bits = 0; bits < 1u << on.n; bits++)
            {
              double gain, cost;

              choices_add_up (&on, bits, &gain, &cost);
              if (!choices_is_closed (&on, bits) || cost < low->cost || cost > high->cost)
                continue;
              g_assert_cmpfloat (gain, <=, low->gain + (high->gain - low->gain) * (cost - low->cost) / (high->cost - low->cost)
                                 + 1e-6);
              n_compared++;
            }
        }
    }
  g_assert_cmpuint (n_compared, >, 1000);
}

/* What lies between corners is no exact knapsack, but near it. */
static void
test_path (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);
  double worst = 1;
  guint n = 0;

  for (guint round = 0; round < 60; round++)
    {
      Case on;
      g_autoptr(VnChoices) choices = NULL;
      g_autoptr(GPtrArray) path = NULL;

      choices_draw (rand, &on);
      choices = choices_make (&on);
      path = vn_choices_find_path (choices);
      for (guint i = 0; i < path->len; i++)
        {
          const VnChoiceSet *set = g_ptr_array_index (path, i);

          choices_check_set (&on, set);
          if (choices_try_all (&on, set->cost) > 1e-9)
            worst = MIN (worst, set->gain / choices_try_all (&on, set->cost));
          n++;
        }
    }
  g_assert_cmpuint (n, >, 100);
  g_assert_cmpfloat (worst, >, 0.6);
}

/* Levels that follow each other: a first step that brings little for its cost is taken together with a second that brings
 * much. */
static void
test_levels (void)
{
  g_autoptr(VnChoices) choices = vn_choices_new ();
  g_autoptr(GPtrArray) hull = NULL;
  guint first = vn_choices_add (choices, 1, 10), second = vn_choices_add (choices, 99, 1);
  const VnChoiceSet *all;

  vn_choices_require (choices, second, first);
  hull = vn_choices_find_hull (choices);
  g_assert_cmpuint (hull->len, ==, 2);
  all = g_ptr_array_index (hull, 1);
  g_assert_true (all->taken[first] && all->taken[second]);
  g_assert_cmpfloat (all->cost, ==, 11);
}

static void
test_nothing (void)
{
  g_autoptr(VnChoices) choices = vn_choices_new ();
  g_autoptr(GPtrArray) hull = vn_choices_find_hull (choices);

  g_assert_cmpuint (hull->len, ==, 1);
  g_assert_cmpfloat (((const VnChoiceSet *) g_ptr_array_index (hull, 0))->cost, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/choices/hull", test_hull);
  g_test_add_func ("/choices/no-corner-missing", test_no_corner_missing);
  g_test_add_func ("/choices/path", test_path);
  g_test_add_func ("/choices/levels", test_levels);
  g_test_add_func ("/choices/nothing", test_nothing);
  return g_test_run ();
}
