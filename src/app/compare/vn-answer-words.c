/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both networks answer to a sample, in words: in the list, over a picture, below it, and for screen readers. */
#include "vn-answer-words.h"

#include "vn-answer-mask.h"
#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>
#include <pango/pango.h>

#define BEST_SHOWN 3u       /* classes below a picture */
#define MASKS_SHOWN 4u      /* classes of a mask */
#define SYMBOLS_SHOWN 96u   /* letters or tokens: a label that cuts off what is too long loses its colors in GTK 4.8 */
#define SIGNIFICANT 3

static char *
answer_words_format_share (double share)
{
  g_autofree char *number = vn_format_decimals (100 * share, 1);

  return g_strconcat (number, "\u00a0%", NULL);
}

/* "mask IoU: 93.1 %" */
static char *
answer_words_dup_measure (const VnKept *kept)
{
  g_autofree char *share = isnan (kept->share) ? NULL : answer_words_format_share (kept->share);

  return share == NULL ? g_strdup (_("nothing to compare")) : g_strdup_printf ("%s: %s", vn_task_get_name (kept->task), share);
}

static char *
answer_words_dup_class (const VnSampleAnswer *answer,
                        char * const         *names,
                        guint                 label)
{
  const char *name = vn_sample_answer_find_name (answer, names, label);

  return name != NULL ? g_strdup (name) : g_strdup_printf (_("class %u"), label);
}

/* ---- texts ---- */

static GArray *
answer_words_get_side (const VnSampleAnswer *answer,
                       guint                 side)
{
  return side == 0 ? answer->first : answer->other;
}

/* A letter, or the number of one or of a token, which is set apart from the next. */
static char *
answer_words_dup_symbol (const VnSampleAnswer *answer,
                         char * const         *names,
                         guint                 symbol)
{
  const char *name = vn_sample_answer_find_name (answer, names, symbol);

  return name != NULL ? g_strdup (name) : g_strdup_printf ("%u", symbol);
}

static const char *
answer_words_get_separator (const VnSampleAnswer *answer,
                            char * const         *names)
{
  return answer->kept.task == VN_TASK_TEXT && names != NULL ? "" : " ";
}

static char *
answer_words_dup_text (const VnSampleAnswer *answer,
                       char * const         *names,
                       guint                 side)
{
  const GArray *symbols = answer_words_get_side (answer, side);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < symbols->len; i++)
    {
      g_autofree char *symbol = answer_words_dup_symbol (answer, names, g_array_index (symbols, guint, i));

      g_string_append_printf (text, "%s%s", i > 0 ? answer_words_get_separator (answer, names) : "", symbol);
    }
  if (symbols->len == 0)
    g_string_append (text, _("no text"));
  return g_string_free (text, FALSE);
}

/* What only this side has is underlined. */
static char *
answer_words_dup_text_markup (const VnSampleAnswer *answer,
                              char * const         *names,
                              guint                 side)
{
  const GArray *symbols = answer_words_get_side (answer, side);
  GString *text = g_string_new ("<span size=\"large\">");

  for (guint i = 0; i < MIN (symbols->len, SYMBOLS_SHOWN); i++)
    {
      g_autofree char *symbol = answer_words_dup_symbol (answer, names, g_array_index (symbols, guint, i));
      g_autofree char *escaped = g_markup_escape_text (symbol, -1);
      const gboolean alone = (side == 0 ? g_array_index (answer->partners, guint, i) : vn_sample_answer_find_owner (answer, i)) ==
                             VN_NO_PARTNER;

      g_string_append_printf (text, "%s%s%s%s", i > 0 ? answer_words_get_separator (answer, names) : "",
                              alone ? "<b><u>" : "", escaped, alone ? "</u></b>" : "");
    }
  if (symbols->len == 0)
    g_string_append (text, _("no text"));
  g_string_append (text, symbols->len > SYMBOLS_SHOWN ? " …</span>" : "</span>");
  return g_string_free (text, FALSE);
}

/* ---- classes ---- */

static guint
answer_words_get_best (const VnSampleAnswer *answer,
                       guint                 side)
{
  const GArray *side_scores = answer_words_get_side (answer, side);

  return side_scores->len > 0 ? g_array_index (side_scores, VnClassScore, 0).label : 0;
}

static char *
answer_words_dup_classes (const VnSampleAnswer *answer,
                          char * const         *names,
                          guint                 side)
{
  const GArray *scores = answer_words_get_side (answer, side);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < MIN (scores->len, BEST_SHOWN); i++)
    {
      const VnClassScore *score = &g_array_index (scores, VnClassScore, i);
      g_autofree char *name = answer_words_dup_class (answer, names, score->label);
      g_autofree char *number = vn_format_number (score->score, SIGNIFICANT), *escaped = g_markup_escape_text (name, -1);

      g_string_append_printf (text, "%s%s%s%s  %s", i > 0 ? "\n" : "", i == 0 ? "<b>" : "", escaped, i == 0 ? "</b>" : "",
                              number);
    }
  return g_string_free (text, FALSE);
}

/* "cat", or "cat → dog" */
static char *
answer_words_dup_change (const VnSampleAnswer *answer,
                         char * const         *names)
{
  g_autofree char *first = answer_words_dup_class (answer, names, answer_words_get_best (answer, 0)), *other = NULL;

  if (answer->kept.n_kept == answer->kept.n)
    return g_steal_pointer (&first);
  other = answer_words_dup_class (answer, names, answer_words_get_best (answer, 1));
  return g_strdup_printf ("%s → %s", first, other);
}

/* ---- masks ---- */

typedef struct { guint label, n; } Area;

static int
answer_words_compare_areas (gconstpointer a,
                            gconstpointer b)
{
  const Area *x = a, *y = b;

  return x->n != y->n ? (x->n > y->n ? -1 : 1) : (x->label > y->label) - (x->label < y->label);
}

/* (transfer full) (element-type Area): classes that are painted, the largest first */
static GArray *
answer_words_list_areas (const VnSampleAnswer *answer,
                         char * const         *names,
                         guint                 side)
{
  const GArray *pixels = answer_words_get_side (answer, side);
  g_autofree guint *counts = g_new0 (guint, G_MAXUINT16 + 1);
  GArray *areas = g_array_new (FALSE, FALSE, sizeof (Area));

  for (guint i = 0; i < pixels->len; i++)
    counts[g_array_index (pixels, guint16, i)]++;
  for (guint i = 0; i <= G_MAXUINT16; i++)
    if (counts[i] > 0 && vn_answer_mask_shows (answer, names, i))
      {
        const Area area = { i, counts[i] };

        g_array_append_val (areas, area);
      }
  g_array_sort (areas, answer_words_compare_areas);
  return areas;
}

/* The key to the colors, with the part of the picture that each has. */
static char *
answer_words_dup_areas (const VnSampleAnswer *answer,
                        char * const         *names,
                        guint                 side)
{
  g_autoptr(GArray) areas = answer_words_list_areas (answer, names, side);
  GString *text = g_string_new (NULL);
  const double n = (double) answer->mask_height * answer->mask_width;

  for (guint i = 0; i < MIN (areas->len, MASKS_SHOWN); i++)
    {
      const Area *area = &g_array_index (areas, Area, i);
      g_autofree char *share = answer_words_format_share ((double) area->n / n);
      g_autofree char *name = answer->first_counts > 0 && vn_sample_answer_find_name (answer, names, area->label) == NULL
                              ? g_strdup (_("mask")) : answer_words_dup_class (answer, names, area->label);
      g_autofree char *escaped = g_markup_escape_text (name, -1);

      g_string_append_printf (text, "%s<span color=\"#%06x\">■</span> %s %s", i > 0 ? "   " : "",
                              vn_answer_mask_get_color (area->label), escaped, share);
    }
  if (areas->len > MASKS_SHOWN)
    g_string_append_printf (text, "   +%u", areas->len - MASKS_SHOWN);
  if (areas->len == 0)
    g_string_append (text, _("nothing found"));
  return g_string_free (text, FALSE);
}

/* ---- all ---- */

static char *
answer_words_dup_counts (const VnKept *kept)
{
  const guint n = (guint) kept->n, n_added = (guint) kept->n_added;

  if (n == 0 && n_added == 0)
    return g_strdup (kept->task == VN_TASK_DETECTION ? _("nothing detected") : _("nothing to compare"));
  if (n == 0)
    return g_strdup_printf (ngettext ("%u added", "%u added", n_added), n_added);
  return kept->n_kept == kept->n ? g_strdup_printf (ngettext ("all %u kept", "all %u kept", n), n)
                                 : g_strdup_printf (_("%u of %u kept"), (guint) kept->n_kept, n);
}

/**
 * vn_answer_words_dup_row:
 *
 * Returns: (transfer full): what has become of the answer, in few words: “5 of 11 kept”, “cat → dog”
 */
char *
vn_answer_words_dup_row (const VnSampleAnswer *answer,
                         char * const         *names)
{
  g_autofree char *first = NULL, *other = NULL;

  g_return_val_if_fail (answer != NULL, NULL);

  if (answer->form == VN_ANSWER_SCORES)
    return answer_words_dup_change (answer, names);
  if (vn_task_get_counted (answer->kept.task) == NULL)
    return answer_words_dup_measure (&answer->kept);
  if (answer->form != VN_ANSWER_SYMBOLS || answer->kept.task != VN_TASK_TEXT)
    return answer_words_dup_counts (&answer->kept);
  first = answer_words_dup_text (answer, names, 0);
  if (vn_sample_answer_is_whole (answer))
    return g_steal_pointer (&first);
  other = answer_words_dup_text (answer, names, 1);
  return g_strdup_printf ("%s → %s", first, other);
}

/* What the quantized network does with it. */
static char *
answer_words_dup_outcome (const VnSampleAnswer *answer)
{
  const VnKept *kept = &answer->kept;

  if (answer->form == VN_ANSWER_SCORES)
    return g_strdup (kept->n_kept == kept->n ? _("same class") : _("class changed"));
  if (vn_task_get_counted (kept->task) == NULL)
    return answer_words_dup_measure (kept);
  if (kept->task == VN_TASK_TEXT)
    return g_strdup (vn_sample_answer_is_whole (answer) ? _("same text") : _("text differs"));
  return g_strdup_printf (_("%u kept, %u lost, %u added"), (guint) kept->n_kept, (guint) (kept->n - kept->n_kept),
                          (guint) kept->n_added);
}

/**
 * vn_answer_words_dup_title:
 *
 * Returns: (transfer full): which network it is, and on the side of the quantized one what it keeps
 */
char *
vn_answer_words_dup_title (const VnSampleAnswer *answer,
                           char * const         *names,
                           guint                 side)
{
  g_autofree char *outcome = NULL;

  g_return_val_if_fail (answer != NULL && side < 2, NULL);

  if (side == 0 && answer->kept.task == VN_TASK_DETECTION)
    return g_strdup_printf (ngettext ("Float · %u detection", "Float · %u detections", answer->first->len), answer->first->len);
  if (side == 0)
    return g_strdup (_("Float"));
  outcome = answer_words_dup_outcome (answer);
  return g_strdup_printf (_("Quantized · %s"), outcome);
}

/**
 * vn_answer_words_dup_markup:
 *
 * Returns: (transfer full) (nullable): what stands below a picture, for Pango: the best classes, a text, or the key to a mask;
 *   %NULL where the picture says it all
 */
char *
vn_answer_words_dup_markup (const VnSampleAnswer *answer,
                            char * const         *names,
                            guint                 side)
{
  g_return_val_if_fail (answer != NULL && side < 2, NULL);

  switch (answer->form)
    {
    case VN_ANSWER_SCORES:
      return answer_words_dup_classes (answer, names, side);
    case VN_ANSWER_SYMBOLS:
      return answer_words_dup_text_markup (answer, names, side);
    case VN_ANSWER_MASK:
      return answer_words_dup_areas (answer, names, side);
    default:
      return NULL;
    }
}

/**
 * vn_answer_words_dup_spoken:
 *
 * Returns: (transfer full): what a picture shows, for those who do not see it
 */
char *
vn_answer_words_dup_spoken (const VnSampleAnswer *answer,
                            char * const         *names,
                            guint                 side)
{
  g_autofree char *title = NULL, *markup = NULL, *text = NULL;

  g_return_val_if_fail (answer != NULL && side < 2, NULL);

  title = vn_answer_words_dup_title (answer, names, side);
  markup = vn_answer_words_dup_markup (answer, names, side);
  if (markup == NULL || !pango_parse_markup (markup, -1, 0, NULL, &text, NULL, NULL))
    return g_steal_pointer (&title);
  g_strdelimit (text, "\n", ',');
  return g_strdup_printf ("%s: %s", title, text);
}

/**
 * vn_answer_words_dup_summary:
 * @answers: (element-type VnSampleAnswer): of one task
 * @kept: of all of them, where it is known
 *
 * Returns: (transfer full) (nullable): what is kept of all, in figures: “146 of 243”, “93.1 %”; %NULL: nothing is to be kept
 */
char *
vn_answer_words_dup_summary (GPtrArray    *answers,
                             const VnKept *kept)
{
  guint64 n = 0, n_kept = 0;
  VnTask task;

  g_return_val_if_fail (answers != NULL && kept != NULL, NULL);

  task = answers->len > 0 ? ((const VnSampleAnswer *) answers->pdata[0])->kept.task : VN_TASK_OTHER;
  if (vn_task_get_counted (task) == NULL)
    return kept->task == task && vn_kept_is_known (kept) ? answer_words_format_share (kept->share) : NULL;
  for (guint i = 0; i < answers->len; i++)
    {
      n += ((const VnSampleAnswer *) answers->pdata[i])->kept.n;
      n_kept += ((const VnSampleAnswer *) answers->pdata[i])->kept.n_kept;
    }
  return n > 0 ? g_strdup_printf (_("%u of %u"), (guint) n_kept, (guint) n) : NULL;
}
