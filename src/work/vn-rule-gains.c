/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules gained: of all runs those are found that were made on the same samples and differ in some rules alone. What no two
 * runs tell stays unknown. */
#include "vn-rule-gains.h"

#include "vn-setting.h"

#include <math.h>
#include <string.h>

#define MOST_RUNS 60u      /* the last ones */
#define MOST_RULES 2000u   /* of a run */

/* A run, or what is expected: @changes are numbers that say which settings and rules; equal ones are the same. */
typedef struct
{
  const char *preset, *inputs;
  GArray     *changes;   /* of guint */
  double      db;
  gint64      bytes;
  gboolean    is_expected;
} Figures;

struct _VnRuleGains
{
  GHashTable *numbers;   /* what a setting or a rule says -> its number */
  GHashTable *texts;     /* a rule as a run lists it -> what it says; NULL: it is turned off */
  GArray     *runs;      /* of Figures, the oldest first */
  GHashTable *gains;     /* numbers of rules, as bytes -> VnRuleGain */
};

static void
rule_gains_clear_figures (gpointer data)
{
  g_array_unref (((Figures *) data)->changes);
}

/* ---- what a run says ---- */

static void
rule_gains_add_change (VnRuleGains *self,
                       GArray      *changes,
                       const char  *text)
{
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (self->numbers, text));

  if (number == 0)
    {
      number = g_hash_table_size (self->numbers) + 1;
      g_hash_table_insert (self->numbers, g_strdup (text), GUINT_TO_POINTER (number));
    }
  g_array_append_val (changes, number);
}

/* What it says while it is turned on, whatever it is called. */
static char *
rule_gains_dup_meaning (const VnOverride *rule)
{
  VnOverride plain = *rule;

  plain.name = NULL;
  plain.enabled = TRUE;
  return vn_override_to_json (&plain);
}

/* A rule that is turned off says nothing. */
static const char *
rule_gains_translate (VnRuleGains *self,
                      const char  *change)
{
  gpointer meaning;
  VnOverride *rule;

  if (*change != '{')
    return change;
  if (g_hash_table_lookup_extended (self->texts, change, NULL, &meaning))
    return meaning;
  rule = vn_override_from_json (change, NULL);
  meaning = rule == NULL ? g_strdup (change) : rule->enabled ? rule_gains_dup_meaning (rule) : NULL;
  vn_override_free (rule);
  g_hash_table_insert (self->texts, g_strdup (change), meaning);
  return meaning;
}

static void
rule_gains_add_run (VnRuleGains        *self,
                    const VnProjectRun *run)
{
  Figures figures = { run->preset, run->inputs_digest, NULL, run->figures.outputs_db, (gint64) run->figures.quantized_bytes,
                      FALSE };

  if (run->inputs_digest == NULL || isnan (run->figures.outputs_db) || g_strv_length (run->changes) > MOST_RULES)
    return;
  figures.changes = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; run->changes[i] != NULL; i++)
    {
      const char *text = rule_gains_translate (self, run->changes[i]);

      if (text != NULL)
        rule_gains_add_change (self, figures.changes, text);
    }
  g_array_append_val (self->runs, figures);
}

/* What is shown, if it is only expected; it is about the same inputs as the run that it is told by. */
static void
rule_gains_add_expected (VnRuleGains        *self,
                         const VnRun        *expected,
                         const VnProjectRun *base)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (expected->recipe);
  g_autoptr(GPtrArray) differences = NULL;
  Figures figures = { base->preset, base->inputs_digest, NULL, NAN, (gint64) expected->quantized_bytes, TRUE };

  if (base->inputs_digest == NULL || expected->errors == NULL || recipe->overrides->len > MOST_RULES ||
      !g_str_equal (recipe->preset, base->preset))
    return;
  figures.db = vn_error_table_get_outputs_sqnr (expected->errors);
  figures.changes = g_array_new (FALSE, FALSE, sizeof (guint));
  differences = vn_recipe_list_differences (recipe);
  for (guint i = 0; i < differences->len; i++)
    {
      const VnSettingDifference *difference = g_ptr_array_index (differences, i);
      g_autofree char *setting = difference->setting != NULL
                                 ? g_strdup_printf ("%s=%s", difference->id, difference->value) : NULL;
      const char *text = setting != NULL ? setting : rule_gains_translate (self, difference->value);

      if (text != NULL)
        rule_gains_add_change (self, figures.changes, text);
    }
  g_array_append_val (self->runs, figures);
}

/* ---- pairs of runs ---- */

static GBytes *
rule_gains_make_key (const guint *numbers,
                     guint        n)
{
  return g_bytes_new (numbers, n * sizeof (guint));
}

/* Of the same rules the last runs count. */
static void
rule_gains_note (VnRuleGains   *self,
                 const Figures *without,
                 const Figures *with,
                 guint          first)
{
  g_autoptr(GBytes) key = rule_gains_make_key (&g_array_index (with->changes, guint, first),
                                               with->changes->len - without->changes->len);
  VnRuleGain gain = { with->db - without->db, with->bytes - without->bytes, with->is_expected };

  if (!isfinite (gain.db) || g_hash_table_contains (self->gains, key))
    return;
  g_hash_table_insert (self->gains, g_bytes_ref (key), g_memdup2 (&gain, sizeof gain));
}

/* Whether @with says what @without says, and something in one place more. */
static gboolean
rule_gains_has_more (const Figures *without,
                     const Figures *with,
                     guint         *first)
{
  const guint n = without->changes->len, more = with->changes->len - n;
  const guint *a = (const guint *) (gconstpointer) without->changes->data,
  *b = (const guint *) (gconstpointer) with->changes->data;

  if (with->changes->len <= n || g_strcmp0 (without->preset, with->preset) != 0 || g_strcmp0 (without->inputs, with->inputs) != 0)
    return FALSE;
  *first = 0;
  while (*first < n && a[*first] == b[*first])
    (*first)++;
  return *first == n || memcmp (a + *first, b + *first + more, (n - *first) * sizeof (guint)) == 0;
}

/* What was measured counts before what is expected. */
static void
rule_gains_compare (VnRuleGains *self,
                    gboolean     is_expected)
{
  for (guint i = self->runs->len; i > 0; i--)
    for (guint k = self->runs->len; k > 0; k--)
      {
        const Figures *with = &g_array_index (self->runs, Figures, i - 1), *without = &g_array_index (self->runs, Figures, k - 1);
        guint first;

        if (with->is_expected == is_expected && !without->is_expected && rule_gains_has_more (without, with, &first))
          rule_gains_note (self, without, with, first);
      }
}

/**
 * vn_rule_gains_new:
 *
 * Returns: (transfer full): what the runs of @bench tell, and what is expected of its recipe
 */
VnRuleGains *
vn_rule_gains_new (VnBench *bench)
{
  VnRuleGains *self;
  GPtrArray *runs;
  VnRun *shown, *confirmed;

  g_return_val_if_fail (VN_IS_BENCH (bench), NULL);

  self = g_new0 (VnRuleGains, 1);
  self->numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->runs = g_array_new (FALSE, FALSE, sizeof (Figures));
  g_array_set_clear_func (self->runs, rule_gains_clear_figures);
  self->gains = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, g_free);
  runs = vn_bench_get_runs (bench);
  shown = vn_bench_get_shown (bench);
  confirmed = vn_bench_get_confirmed (bench);
  for (guint i = runs->len > MOST_RUNS ? runs->len - MOST_RUNS : 0; i < runs->len; i++)
    rule_gains_add_run (self, g_ptr_array_index (runs, i));
  for (guint i = runs->len; shown != NULL && shown->state == VN_RUN_ESTIMATED && confirmed != NULL && i > 0; i--)
    {
      const VnProjectRun *run = g_ptr_array_index (runs, i - 1);

      if (run->time != confirmed->time)
        continue;
      rule_gains_add_expected (self, shown, run);
      break;
    }
  rule_gains_compare (self, FALSE);
  rule_gains_compare (self, TRUE);
  return self;
}

/**
 * vn_rule_gains_free:
 * @self: (nullable):
 */
void
vn_rule_gains_free (VnRuleGains *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->numbers);
  g_hash_table_unref (self->texts);
  g_array_unref (self->runs);
  g_hash_table_unref (self->gains);
  g_free (self);
}

/**
 * vn_rule_gains_find:
 * @first: number of the first of @n rules of @recipe
 *
 * Returns: (transfer none) (nullable): what these rules, which may be turned off, gained together; %NULL: no two runs tell
 */
const VnRuleGain *
vn_rule_gains_find (VnRuleGains    *self,
                    const VnRecipe *recipe,
                    guint           first,
                    guint           n)
{
  g_autoptr(GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GBytes) key = NULL;

  g_return_val_if_fail (self != NULL && recipe != NULL && first + n <= recipe->overrides->len, NULL);

  for (guint i = first; i < first + n; i++)
    {
      g_autofree char *text = rule_gains_dup_meaning (g_ptr_array_index (recipe->overrides, i));
      guint number = GPOINTER_TO_UINT (g_hash_table_lookup (self->numbers, text));

      if (number == 0)
        return NULL;
      g_array_append_val (numbers, number);
    }
  key = rule_gains_make_key ((const guint *) (gpointer) numbers->data, n);
  return g_hash_table_lookup (self->gains, key);
}
