/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes offers of the findings of a diagnosis: the first cure of a reason that changes something and was not tried in vain. */
#include "vn-cure-offers.h"

#include "vn-cure.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"
#include "vn-verdict.h"

#include <math.h>

/* Of one node, when it is looked at alone. */
#define MAX_OF_NODE 3

#define MAX_SEEN 3
#define LEAST_SEEN 2     /* also of what is hardly worth it */

typedef struct
{
  VnDocument *document;
  VnRun      *result;
  VnHeadlineKind scale;
  GPtrArray  *offers;
} Offering;

static void
cure_offers_free (gpointer data)
{
  VnCureOffer *self = data;

  g_free (self->key);
  g_free (self->title);
  g_free (self->step);
  g_free (self->reason);
  g_free (self->in_vain);
  g_free (self->gain_text);
  g_free (self->gain_count);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_free (self);
}

/* ---- what a finding speaks of ---- */

static const char *
cure_offers_find_value (VnRun           *result,
                        const VnFinding *finding)
{
  for (guint i = 0; result->contributions != NULL && i < vn_contributions_get_n (result->contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (result->contributions, i);

      if (g_str_equal (item->name, finding->tensor) && g_str_equal (item->node, finding->node))
        return item->value;
    }
  return NULL;
}

static gboolean
cure_offers_stands_for (VnRun      *result,
                        VnNodeItem *item,
                        const char *value)
{
  const VnErrorRow *row = value != NULL ? vn_run_get_node_error (result, item->node) : NULL;

  return row != NULL && g_str_equal (row->value, value);
}

static gboolean
cure_offers_speaks_of (VnRun           *result,
                       const VnFinding *finding,
                       VnNodeItem      *item)
{
  return cure_offers_stands_for (result, item, cure_offers_find_value (result, finding));
}

static VnNodeItem *
cure_offers_find_item (const Offering  *self,
                       const VnFinding *finding)
{
  GListModel *nodes = vn_document_get_nodes (self->document);
  const char *value = cure_offers_find_value (self->result, finding);

  for (guint i = 0; value != NULL && i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (cure_offers_stands_for (self->result, item, value))
        return g_steal_pointer (&item);
    }
  return NULL;
}

/* ---- one cure ---- */

static char *
cure_offers_capitalize (const char *text)
{
  g_autofree char *first = g_utf8_strup (text, (gssize) (g_utf8_next_char (text) - text));

  return g_strconcat (first, g_utf8_next_char (text), NULL);
}

static const VnCureTrial *
cure_offers_find_trial (const Offering  *self,
                        const VnFinding *finding,
                        const VnRecipe  *recipe)
{
  for (guint i = 0; i < vn_diagnosis_get_n_trials (self->result->diagnosis); i++)
    {
      const VnCureTrial *trial = vn_diagnosis_get_trial (self->result->diagnosis, i);

      if (trial->recipe != NULL && vn_recipe_equal (trial->recipe, recipe))
        return trial;
    }
  return NULL;
}

static gboolean
cure_offers_has (const Offering *self,
                 const VnRecipe *recipe)
{
  for (guint i = 0; i < self->offers->len; i++)
    {
      const VnCureOffer *offer = g_ptr_array_index (self->offers, i);

      if (offer->recipe != NULL && vn_recipe_equal (offer->recipe, recipe))
        return TRUE;
    }
  return FALSE;
}

static VnCureOffer *
cure_offers_make (const VnFinding *finding,
                  VnNodeItem      *item,
                  VnCure           cure)
{
  VnCureOffer *offer = g_new0 (VnCureOffer, 1);
  g_autofree char *name = item != NULL ? vn_node_dup_title (item->node) : NULL;
  const char *title = _(vn_cure_get_title (cure));

  offer->cure = cure;
  offer->key = g_strdup_printf ("%s %s", vn_cure_get_id (cure), finding->tensor);
  offer->title = cure_offers_capitalize (title);
  offer->step = name != NULL ? g_strdup_printf ("%s: %s", name, title) : g_strdup (offer->title);
  offer->reason = g_strdup (finding->text);
  offer->why = finding->reason;
  offer->node = item != NULL ? item->index : G_MAXUINT;
  offer->gain_db = offer->gain = offer->time_ratio = NAN;
  offer->most_db = finding->share > 0 && finding->share < 1 ? -10 * log10 (1 - finding->share) : NAN;
  return offer;
}

/* Whether there are samples that were not used: a run that was given fewer than it might have used has all there are. */
static gboolean
cure_offers_has_samples (const Offering *self)
{
  const guint most = vn_bench_get_n_samples (VN_BENCH (self->document));

  return most > 0 && self->result->n_calibration + self->result->n_held_out >= most;
}

/* @before, @after: may know less than @gain_db: files of earlier versions do not have them */
static void
cure_offers_take_gain (const Offering   *self,
                       VnCureOffer      *offer,
                       const VnHeadline *before,
                       const VnHeadline *after,
                       double            gain_db)
{
  offer->gain_db = gain_db;
  offer->gain = vn_headline_get_gain (before, after, self->scale);
  offer->gain_text = vn_headline_dup_gain (before, after, self->scale);
  offer->gain_count = vn_headline_dup_count (before, after, self->scale);
  if (offer->gain_text != NULL)
    return;
  offer->gain = gain_db;
  offer->gain_text = vn_format_signed_db (gain_db);
}

/* Whether @offer is one: it changes the recipe, is not there yet, and was not in vain. */
static gboolean
cure_offers_check (const Offering  *self,
                   const VnFinding *finding,
                   VnCure           cure,
                   VnCureOffer     *offer,
                   gboolean        *in_vain)
{
  const VnEffect *effect = vn_bench_find_effect (VN_BENCH (self->document), offer->key);
  const VnCureTrial *trial;

  *in_vain = FALSE;
  if (vn_cure_get_kind (cure) == VN_CURES_SAMPLES)
    return cure_offers_has_samples (self);
  if (vn_cure_get_kind (cure) != VN_CURES_RECIPE)
    return TRUE;
  offer->recipe = vn_recipe_copy (self->result->recipe);
  if (!vn_cure_apply (cure, offer->recipe, self->result, finding) || cure_offers_has (self, offer->recipe))
    return FALSE;
  trial = cure_offers_find_trial (self, finding, offer->recipe);
  if (trial != NULL && trial->state == VN_TRIAL_HELPED)
    {
      cure_offers_take_gain (self, offer, &trial->before, &trial->after, trial->after_db - trial->before_db);
      offer->bytes = (gint64) trial->after_bytes - (gint64) trial->before_bytes;
      offer->time_ratio = trial->time_ratio;
    }
  else if (effect != NULL && vn_effect_has_helped (effect))   /* taken back since */
    {
      cure_offers_take_gain (self, offer, &effect->before, &effect->after, effect->after_db - effect->before_db);
      offer->bytes = effect->bytes;
      offer->time_ratio = effect->time_ratio;
    }
  *in_vain = (effect != NULL && effect->measured && !vn_effect_has_helped (effect)) ||
             (trial != NULL && (trial->state == VN_TRIAL_NO_HELP || trial->state == VN_TRIAL_IMPOSSIBLE));
  return !*in_vain;
}

/* ---- lists ---- */

static int
cure_offers_compare (gconstpointer a,
                     gconstpointer b)
{
  const VnCureOffer *p = *(VnCureOffer **) a, *q = *(VnCureOffer **) b;

  if ((p->recipe == NULL) != (q->recipe == NULL))
    return (p->recipe == NULL) - (q->recipe == NULL);
  if (isnan (p->gain) || isnan (q->gain))
    return isnan (p->gain) - isnan (q->gain);
  return p->gain > q->gain ? -1 : p->gain < q->gain;
}

static void
cure_offers_note_failure (GString           *failed,
                          const VnCureOffer *offer)
{
  g_string_append_printf (failed, "%s%s", failed->len > 0 ? "; " : "", offer->title);
}

/* All that there is was tried: that is said once, and nothing is offered. */
static VnCureOffer *
cure_offers_make_end (const VnFinding *finding,
                      VnNodeItem      *item,
                      VnCure           last)
{
  VnCureOffer *offer = cure_offers_make (finding, item, last);

  g_free (offer->title);
  offer->title = g_strdup (_("No more fixes to try here"));
  g_clear_pointer (&offer->recipe, vn_recipe_free);
  return offer;
}

/* Those of @cures that are worth trying; @failed: titles of those that were tried in vain. */
static GPtrArray *
cure_offers_find (Offering        *self,
                  const VnFinding *finding,
                  VnNodeItem      *item,
                  GArray          *cures,
                  GString         *failed)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < cures->len; i++)
    {
      VnCureOffer *offer = cure_offers_make (finding, item, g_array_index (cures, VnCure, i));
      gboolean in_vain;

      if (cure_offers_check (self, finding, offer->cure, offer, &in_vain))
        {
          offer->in_vain = failed->len > 0 ? g_strdup (failed->str) : NULL;
          g_ptr_array_add (found, offer);
          continue;
        }
      if (in_vain)
        cure_offers_note_failure (failed, offer);
      cure_offers_free (offer);
    }
  return found;
}

/* Of what can be done about one finding, the best that was measured, or else the next of the reason's cures. */
static void
cure_offers_add (Offering        *self,
                 guint            number,
                 VnNodeItem      *item,
                 guint            n_most)
{
  const VnFinding *finding = vn_diagnosis_get (self->result->diagnosis, number);
  g_autoptr(GArray) cures = vn_finding_list_cures (finding);
  g_autoptr(GString) failed = g_string_new (NULL);
  g_autoptr(GPtrArray) found = cure_offers_find (self, finding, item, cures, failed);

  if (found->len == 0 && failed->len > 0)
    {
      VnCureOffer *end = cure_offers_make_end (finding, item, g_array_index (cures, VnCure, cures->len - 1));

      end->in_vain = g_strdup (failed->str);
      g_ptr_array_add (found, end);
    }
  g_ptr_array_sort (found, cure_offers_compare);
  for (guint i = 0; i < found->len; i++)
    {
      VnCureOffer *offer = g_ptr_array_index (found, i);

      offer->finding = number;
      if (i < n_most)
        g_ptr_array_add (self->offers, offer);
      else
        cure_offers_free (offer);
    }
}

/**
 * vn_cure_offers_get_scale:
 *
 * Returns: what the verdict about the run that is shown rests on: what a change gains is told of that
 */
VnHeadlineKind
vn_cure_offers_get_scale (VnDocument *document)
{
  g_autoptr(VnVerdict) verdict = NULL;
  VnRun *shown;

  g_return_val_if_fail (VN_IS_DOCUMENT (document), VN_HEADLINE_OUTPUTS);

  shown = vn_bench_get_shown (VN_BENCH (document));
  verdict = shown != NULL ? vn_verdict_new (shown) : NULL;
  return verdict != NULL ? verdict->basis : VN_HEADLINE_OUTPUTS;
}

/**
 * vn_cure_offers_list:
 * @item: (nullable): a node; %NULL: all
 *
 * Returns: (transfer full) (element-type VnCureOffer): what can be done about the reasons of the present result; those whose gain
 *   was measured first, the others by what their tensor costs, what can only be told last; empty while the reasons are not known,
 * or the recipe has changed
 */
GPtrArray *
vn_cure_offers_list (VnDocument *document,
                     VnNodeItem *item)
{
  Offering self = { document, NULL, VN_HEADLINE_OUTPUTS, g_ptr_array_new_with_free_func (cure_offers_free) };

  g_return_val_if_fail (VN_IS_DOCUMENT (document), self.offers);

  self.result = vn_bench_get_shown (VN_BENCH (document));
  if (self.result == NULL || self.result->diagnosis == NULL || vn_bench_is_stale (VN_BENCH (document)))
    return self.offers;
  self.scale = vn_cure_offers_get_scale (document);
  for (guint i = 0; i < vn_diagnosis_get_n (self.result->diagnosis); i++)
    {
      const VnFinding *finding = vn_diagnosis_get (self.result->diagnosis, i);
      g_autoptr(VnNodeItem) own = NULL;

      if (item != NULL && (self.offers->len >= MAX_OF_NODE || !cure_offers_speaks_of (self.result, finding, item)))
        continue;
      own = item != NULL ? g_object_ref (item) : cure_offers_find_item (&self, finding);
      cure_offers_add (&self, i, own, item != NULL ? MAX_OF_NODE - self.offers->len : 1);
    }
  g_ptr_array_sort (self.offers, cure_offers_compare);
  return self.offers;
}

/**
 * vn_cure_offers_choose:
 * @offers: (element-type VnCureOffer): of vn_cure_offers_list()
 *
 * Returns: (transfer container) (element-type VnCureOffer): the few to be seen at a time: those that were not measured may hardly
 *   be worth it, and none loses what the verdict rests on
 */
GPtrArray *
vn_cure_offers_choose (GPtrArray *offers)
{
  GPtrArray *chosen = g_ptr_array_new ();

  g_return_val_if_fail (offers != NULL, chosen);

  for (guint i = 0; i < offers->len && chosen->len < MAX_SEEN; i++)
    {
      const VnCureOffer *offer = g_ptr_array_index (offers, i);

      if (offer->gain < 0)
        continue;
      if (!isnan (offer->gain_db) || !(offer->most_db < VN_LEAST_GAIN_DB) || chosen->len < LEAST_SEEN)
        g_ptr_array_add (chosen, (gpointer) offer);
    }
  return chosen;
}

/* ---- all at once ---- */

#define BUNDLE_MARK "all: "

void
vn_cure_bundle_free (VnCureBundle *self)
{
  if (self == NULL)
    return;
  g_free (self->key);
  g_free (self->step);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_free (self);
}

static void
cure_offers_add_to_bundle (VnCureBundle      *bundle,
                           VnRun             *result,
                           const VnCureOffer *offer,
                           GString           *key)
{
  if (offer->recipe == NULL || !(offer->gain > 0) ||
      !vn_cure_apply (offer->cure, bundle->recipe, result, vn_diagnosis_get (result->diagnosis, offer->finding)))
    return;
  g_string_append_printf (key, "%s%s", bundle->n > 0 ? "; " : "", offer->key);
  bundle->least_db = MAX (bundle->least_db, offer->gain_db);
  bundle->most_db += MAX (offer->gain_db, 0);
  bundle->n++;
}

/**
 * vn_cure_bundle_new:
 * @offers: (element-type VnCureOffer): of the present result
 *
 * Returns: (transfer full) (nullable): those that measured a gain, as one change; %NULL if there are fewer than two, or just
 *   these were tried together and did not win more than the best of them alone
 */
VnCureBundle *
vn_cure_bundle_new (VnDocument *document,
                    GPtrArray  *offers)
{
  g_autoptr(VnCureBundle) bundle = NULL;
  g_autoptr(GString) key = g_string_new (BUNDLE_MARK);
  const VnEffect *effect;
  VnRun *result;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && offers != NULL, NULL);

  result = vn_bench_get_shown (VN_BENCH (document));
  if (result == NULL || result->diagnosis == NULL)
    return NULL;
  bundle = g_new0 (VnCureBundle, 1);
  bundle->recipe = vn_recipe_copy (result->recipe);
  for (guint i = 0; i < offers->len; i++)
    cure_offers_add_to_bundle (bundle, result, g_ptr_array_index (offers, i), key);
  effect = vn_bench_find_effect (VN_BENCH (document), key->str);
  if (bundle->n < 2 || (effect != NULL && effect->measured &&
                        (!vn_effect_has_helped (effect) || effect->after_db - effect->before_db < bundle->least_db)))
    return NULL;
  bundle->key = g_strdup (key->str);
  bundle->step = g_strdup_printf (ngettext ("%u fix applied", "%u fixes applied together", bundle->n), bundle->n);
  return g_steal_pointer (&bundle);
}

/**
 * vn_cure_bundle_find_effect:
 *
 * Returns: (transfer none) (nullable): what came of the cures that were applied together last
 */
const VnEffect *
vn_cure_bundle_find_effect (VnDocument *document)
{
  GPtrArray *effects;

  g_return_val_if_fail (VN_IS_DOCUMENT (document), NULL);

  effects = vn_bench_get_effects (VN_BENCH (document));
  for (guint i = effects->len; i > 0; i--)
    {
      const VnEffect *effect = g_ptr_array_index (effects, i - 1);

      if (g_str_has_prefix (effect->key, BUNDLE_MARK))
        return effect;
    }
  return NULL;
}

/**
 * vn_cure_offers_find_reason:
 *
 * Returns: (transfer none) (nullable): the first reason of what a node costs
 */
const VnFinding *
vn_cure_offers_find_reason (VnDocument *document,
                            VnNodeItem *item)
{
  VnRun *result;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  result = vn_bench_get_shown (VN_BENCH (document));
  for (guint i = 0; result != NULL && result->diagnosis != NULL && i < vn_diagnosis_get_n (result->diagnosis); i++)
    {
      const VnFinding *finding = vn_diagnosis_get (result->diagnosis, i);

      if (cure_offers_speaks_of (result, finding, item))
        return finding;
    }
  return NULL;
}

/**
 * vn_cure_offers_dup_reason:
 *
 * Returns: (transfer full) (nullable): the first reason of what a node costs, one sentence
 */
char *
vn_cure_offers_dup_reason (VnDocument *document,
                           VnNodeItem *item)
{
  const VnFinding *finding = vn_cure_offers_find_reason (document, item);

  return finding != NULL ? g_strdup (finding->text) : NULL;
}
