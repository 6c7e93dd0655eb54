/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of tasks, and the words for what is kept of their answers. */
#include "vn-task.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* More or fewer answers kept, as a share: less is nothing, whatever chance may be. */
#define ANSWERS_COUNT 0.02

static const struct
{
  const char  *id, *measure, *title, *name, *counted;
  VnTaskSecond second;
  const char  *second_id, *second_title, *rule;
} tasks[] = {
  { .id = "other" },
#define VN_TASK(SYMBOL, symbol, id, measure, title, name, counted, SECOND, second_id, second_title, rule) \
  { id, measure, title, name, counted, VN_TASK_SECOND_##SECOND, second_id, second_title, rule },
#include "vn-tasks.def"
#undef VN_TASK
};

static const struct { const char *id, *measure, *title; gboolean of_first; } kept_figures[] = {
#define VN_KEPT_FIGURE(SYMBOL, id, measure, OF_FIRST, title) { id, measure, title, OF_FIRST },
#include "vn-kept-figures.def"
#undef VN_KEPT_FIGURE
};

/**
 * vn_task_get_id:
 *
 * Returns: the word for machines: “detection”
 */
const char *
vn_task_get_id (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].id;
}

/**
 * vn_task_get_measure_id:
 *
 * Returns: (nullable): what is measured, for machines: “detections-kept”; %NULL for another task
 */
const char *
vn_task_get_measure_id (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].measure;
}

/**
 * vn_task_get_title:
 *
 * Returns: (nullable): what is measured, translated: “Detections kept”; %NULL for another task
 */
const char *
vn_task_get_title (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].title != NULL ? _(tasks[task].title) : NULL;
}

/**
 * vn_task_get_name:
 *
 * Returns: (nullable): the same in half a sentence, translated: “detections kept”; %NULL for another task
 */
const char *
vn_task_get_name (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].name != NULL ? _(tasks[task].name) : NULL;
}

/**
 * vn_task_get_counted:
 *
 * Returns: (nullable): what VnKept.n counts of it, for machines: “detections”; %NULL for a mask, and for another task
 */
const char *
vn_task_get_counted (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].counted;
}

/**
 * vn_task_get_second:
 *
 * Returns: what is told beside the share
 */
VnTaskSecond
vn_task_get_second (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, VN_TASK_SECOND_NONE);

  return tasks[task].second;
}

/**
 * vn_task_get_second_id:
 *
 * Returns: (nullable): that figure, for machines: “kl_divergence”; %NULL if there is none
 */
const char *
vn_task_get_second_id (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].second_id;
}

/**
 * vn_task_get_second_title:
 *
 * Returns: (nullable): that figure, translated: “KL divergence”; %NULL if there is none
 */
const char *
vn_task_get_second_title (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].second_title != NULL ? _(tasks[task].second_title) : NULL;
}

/**
 * vn_task_get_rule:
 *
 * Returns: (nullable): a translated sentence that says what counts; %NULL for another task
 */
const char *
vn_task_get_rule (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].rule != NULL ? _(tasks[task].rule) : NULL;
}

/**
 * vn_task_find:
 * @id: as of vn_task_get_id()
 * @task: (out): only set if there is one
 *
 * Returns: whether there is such a task
 */
gboolean
vn_task_find (const char *id,
              VnTask   *task)
{
  g_return_val_if_fail (id != NULL && task != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    if (g_str_equal (tasks[i].id, id))
      {
        *task = (VnTask) i;
        return TRUE;
      }
  return FALSE;
}

/**
 * vn_task_dup_ids:
 *
 * Returns: (transfer full): all words for machines, for messages: “tokens, …, classification, other”
 */
char *
vn_task_dup_ids (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 1; i < G_N_ELEMENTS (tasks); i++)
    g_string_append_printf (text, "%s, ", tasks[i].id);
  g_string_append (text, tasks[VN_TASK_OTHER].id);
  return g_string_free (text, FALSE);
}

/**
 * vn_kept_is_known:
 *
 * Returns: whether it tells a share
 */
gboolean
vn_kept_is_known (const VnKept *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->task != VN_TASK_OTHER && self->n_samples > 0 && !isnan (self->share);
}

/**
 * vn_kept_get_loss:
 * @chance: (out): by how much chance alone may move it, with so few answers: the standard error, and one more answer
 *
 * What is lost of the first network's answers; answers of the other alone count as if they were lost by the first.
 *
 * Returns: the larger of both shares, 0 to 1; NaN if nothing is known
 */
double
vn_kept_get_loss (const VnKept *self,
                  double       *chance)
{
  double n, others, loss;

  g_return_val_if_fail (self != NULL && chance != NULL, NAN);

  *chance = 0;
  if (!vn_kept_is_known (self))
    return NAN;
  if (tasks[self->task].counted == NULL)   /* pixels, of which there are many */
    return 1 - self->share;
  n = (double) self->n;
  others = (double) (self->n_kept + self->n_added);
  loss = fmax (1 - self->share, self->n_added > 0 ? 1 - 2 * (double) self->n_kept / (n + others) : 0);
  *chance = n > 0 ? sqrt (loss * (1 - loss) / n) + 1 / n : 1;
  return loss;
}

/**
 * vn_kept_compare:
 *
 * Returns: 1: clearly more of the answers are kept than before, -1: clearly fewer; 0: as many, or nobody knows
 */
int
vn_kept_compare (const VnKept *self,
                 const VnKept *before)
{
  double chance, was_chance, lost, was_lost, counts;

  g_return_val_if_fail (self != NULL && before != NULL, 0);

  lost = vn_kept_get_loss (self, &chance);
  was_lost = vn_kept_get_loss (before, &was_chance);
  if (isnan (lost) || isnan (was_lost))
    return 0;
  counts = fmax (ANSWERS_COUNT, fmax (chance, was_chance));
  return lost < was_lost - counts ? 1 : lost > was_lost + counts ? -1 : 0;
}

/**
 * vn_kept_get_figure:
 *
 * Returns: one of those that some tasks tell beside the share; NaN: it is not known
 */
double
vn_kept_get_figure (const VnKept *self,
                    VnKeptFigure  figure)
{
  g_return_val_if_fail (self != NULL && figure < VN_N_KEPT_FIGURES, NAN);

  return self->has_figures ? self->figures[figure] : NAN;
}

void
vn_kept_set_figure (VnKept       *self,
                    VnKeptFigure  figure,
                    double        value)
{
  g_return_if_fail (self != NULL && figure < VN_N_KEPT_FIGURES);

  for (guint i = 0; i < VN_N_KEPT_FIGURES && !self->has_figures; i++)
    self->figures[i] = NAN;
  self->has_figures = TRUE;
  self->figures[figure] = value;
}

/**
 * vn_kept_figure_get_id:
 *
 * Returns: the word for machines: “kl_99”
 */
const char *
vn_kept_figure_get_id (VnKeptFigure figure)
{
  g_return_val_if_fail (figure < VN_N_KEPT_FIGURES, NULL);

  return kept_figures[figure].id;
}

/**
 * vn_kept_figure_get_title:
 *
 * Returns: translated: “KL divergence, maximum”
 */
const char *
vn_kept_figure_get_title (VnKeptFigure figure)
{
  g_return_val_if_fail (figure < VN_N_KEPT_FIGURES, NULL);

  return _(kept_figures[figure].title);
}

/**
 * vn_kept_figure_get_measure:
 * @of_first: (out): whether it is told of the first network alone
 *
 * Returns: the name that the reader of the task has for it
 */
const char *
vn_kept_figure_get_measure (VnKeptFigure  figure,
                            gboolean     *of_first)
{
  g_return_val_if_fail (figure < VN_N_KEPT_FIGURES && of_first != NULL, NULL);

  *of_first = kept_figures[figure].of_first;
  return kept_figures[figure].measure;
}

/**
 * vn_kept_dup_mean:
 *
 * Returns: (transfer full) (nullable): the mean that is told of the answers beside the share; %NULL: none is
 */
char *
vn_kept_dup_mean (const VnKept *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (!vn_kept_is_known (self) || tasks[self->task].second != VN_TASK_SECOND_MEAN || isnan (self->mean))
    return NULL;
  /* two digits that count: divergences worth telling begin at some millionths */
  return vn_format_decimals (self->mean, self->mean > 0 ? (guint) CLAMP (1 - floor (log10 (self->mean)), 4, 8) : 4);
}

/**
 * vn_kept_dup_perplexity:
 *
 * Returns: (transfer full) (nullable): “126.3 → 126.5”, of the float network and of the other; %NULL: it is not known
 */
char *
vn_kept_dup_perplexity (const VnKept *self)
{
  g_autofree char *before = NULL, *after = NULL;
  double was, is;

  g_return_val_if_fail (self != NULL, NULL);

  was = vn_kept_get_figure (self, VN_KEPT_FIGURE_FLOAT_PERPLEXITY);
  is = vn_kept_get_figure (self, VN_KEPT_FIGURE_PERPLEXITY);
  if (isnan (was) || isnan (is))
    return NULL;
  before = vn_format_number (was, 4);
  after = vn_format_number (is, 4);
  return g_strdup_printf ("%s → %s", before, after);
}

/**
 * vn_kept_dup_figures:
 * @self: a known one
 *
 * Returns: (transfer full): “97.1 % (34 of 35, 2 added)”
 */
char *
vn_kept_dup_figures (const VnKept *self)
{
  g_autofree char *mean = NULL, *perplexity = NULL;
  unsigned long long n, n_kept;

  g_return_val_if_fail (self != NULL && vn_kept_is_known (self), NULL);

  n = self->n;
  n_kept = self->n_kept;
  if (tasks[self->task].second == VN_TASK_SECOND_ADDED)
    return g_strdup_printf (_("%.1f %% (%llu of %llu, %llu added)"), 100 * self->share, n_kept, n,
                            (unsigned long long) self->n_added);
  /* Translators: the last two are a title and its figure: “KL divergence 0.0123” */
  if (tasks[self->task].second == VN_TASK_SECOND_MEAN && !isnan (self->mean))
    {
      mean = vn_kept_dup_mean (self);
      perplexity = vn_kept_dup_perplexity (self);
      if (perplexity != NULL)
        return g_strdup_printf (_("%.1f %% (%llu of %llu, %s %s, perplexity %s)"), 100 * self->share, n_kept, n,
                                vn_task_get_second_title (self->task), mean, perplexity);
      return g_strdup_printf (_("%.1f %% (%llu of %llu, %s %s)"), 100 * self->share, n_kept, n,
                              vn_task_get_second_title (self->task), mean);
    }
  return g_strdup_printf ("%.1f %%", 100 * self->share);
}

/**
 * vn_kept_dup_text:
 * @self: a known one
 *
 * Returns: (transfer full): “detections kept: 97.1 % (34 of 35, 2 added)”
 */
char *
vn_kept_dup_text (const VnKept *self)
{
  g_autofree char *figures = NULL;

  g_return_val_if_fail (self != NULL && vn_kept_is_known (self), NULL);

  figures = vn_kept_dup_figures (self);
  return g_strdup_printf ("%s: %s", vn_task_get_name (self->task), figures);
}
