/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a network costs and how good its answers are: in float, before the last change, now, and as is expected. */
#include "vn-review-table.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#include <math.h>

#define MOST_OUTPUTS 8u     /* lines; the report has all */
#define WORST_OUTPUTS 7u    /* shown where there are more */

typedef enum { COLUMN_FLOAT, COLUMN_BEFORE, COLUMN_NOW, COLUMN_EXPECTED, N_COLUMNS } Column;

/* One line: what is not known is NULL. */
typedef struct
{
  char    *title, *cells[N_COLUMNS];
  char    *output;    /* (nullable): that it is about */
  double   sqnr_db;   /* of it */
} Line;

/* What stays of a run for comparison, without its network. */
typedef struct
{
  gint64      time;
  VnRecipe   *recipe;
  GPtrArray  *lines;      /* of Line */
} Run;

struct _VnReviewTable
{
  AdwBin      parent_instance;

  VnDocument *document;
  Run         now, before;
  GtkGrid    *grid;
};

G_DEFINE_FINAL_TYPE (VnReviewTable, vn_review_table, ADW_TYPE_BIN)

static void
review_table_free_line (gpointer data)
{
  Line *self = data;

  g_free (self->title);
  g_free (self->output);
  for (guint c = 0; c < N_COLUMNS; c++)
    g_free (self->cells[c]);
  g_free (self);
}

static void
review_table_clear_run (Run *run)
{
  g_clear_pointer (&run->recipe, vn_recipe_free);
  g_clear_pointer (&run->lines, g_ptr_array_unref);
  run->time = 0;
}

/* @in_float, @now: (transfer full) (nullable) */
static void
review_table_add (GPtrArray  *lines,
                  const char *title,
                  char       *in_float,
                  char       *now)
{
  Line *line = g_new0 (Line, 1);

  line->title = g_strdup (title);
  line->cells[COLUMN_FLOAT] = in_float;
  line->cells[COLUMN_NOW] = now;
  g_ptr_array_add (lines, line);
}

static char *
review_table_format_share (double share)
{
  g_autofree char *number = isnan (share) ? NULL : vn_format_decimals (100 * share, 1);

  return number != NULL ? g_strconcat (number, "\u00a0%", NULL) : NULL;
}

static char *
review_table_format_time (double seconds)
{
  g_autofree char *number = seconds > 0 ? vn_format_number (seconds * 1000, 3) : NULL;

  return number != NULL ? g_strconcat (number, "\u00a0ms", NULL) : NULL;
}

/* Shares in percent, other figures as numbers. */
static char *
review_table_format_figure (const VnKept *kept,
                            VnKeptFigure  figure)
{
  const double value = vn_kept_get_figure (kept, figure);

  if (isnan (value))
    return NULL;
  if (figure == VN_KEPT_FIGURE_TOP8 || figure == VN_KEPT_FIGURE_NEXT || figure == VN_KEPT_FIGURE_FLOAT_NEXT)
    return review_table_format_share (value);
  return vn_format_number (value, figure == VN_KEPT_FIGURE_PERPLEXITY || figure == VN_KEPT_FIGURE_FLOAT_PERPLEXITY ? 4 : 2);
}

/* Those of the float network beside those of the other. */
static void
review_table_add_figures (GPtrArray    *lines,
                          const VnKept *kept)
{
  static const struct { VnKeptFigure now, in_float; } rows[] = {
    { VN_KEPT_FIGURE_KL_99, VN_N_KEPT_FIGURES }, { VN_KEPT_FIGURE_KL_MAX, VN_N_KEPT_FIGURES },
    { VN_KEPT_FIGURE_TOP8, VN_N_KEPT_FIGURES }, { VN_KEPT_FIGURE_PERPLEXITY, VN_KEPT_FIGURE_FLOAT_PERPLEXITY },
    { VN_KEPT_FIGURE_NEXT, VN_KEPT_FIGURE_FLOAT_NEXT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      char *now = review_table_format_figure (kept, rows[i].now);

      if (now != NULL)
        review_table_add (lines, vn_kept_figure_get_title (rows[i].now),
                          rows[i].in_float < VN_N_KEPT_FIGURES ? review_table_format_figure (kept, rows[i].in_float) : NULL, now);
    }
}

static void
review_table_add_answers (GPtrArray          *lines,
                          const VnRunFigures *figures,
                          const VnKept       *kept)
{
  g_autofree char *second = NULL;

  if (!isnan (figures->accuracy))
    {
      review_table_add (lines, _("Top-1 accuracy"), review_table_format_share (figures->float_accuracy),
                        review_table_format_share (figures->accuracy));
      review_table_add (lines, _("Top-1 agreement with float"), review_table_format_share (1),
                        review_table_format_share (figures->agreement));
    }
  if (vn_kept_is_known (kept))
    {
      review_table_add (lines, vn_task_get_title (kept->task), review_table_format_share (1),
                        review_table_format_share (kept->share));
      if ((second = vn_kept_dup_mean (kept)) != NULL)
        review_table_add (lines, vn_task_get_second_title (kept->task), NULL, g_steal_pointer (&second));
      review_table_add_figures (lines, kept);
    }
}

static void
review_table_add_outputs (GPtrArray *lines,
                          VnRun     *result)
{
  guint n = result->errors != NULL ? vn_error_table_get_n (result->errors) : 0;

  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get (result->errors, i);
      g_autofree char *title = NULL, *name = NULL;
      Line *line;

      if (!row->is_output && !row->is_last)
        continue;
      name = vn_error_row_dup_title (row);
      title = g_strdup_printf (row->is_output ? _("SQNR, %s") : _("SQNR, %s, upstream of nodes that cannot be run"), name);
      review_table_add (lines, title, NULL, vn_format_db (row->sqnr_db));
      line = lines->pdata[lines->len - 1];
      line->output = g_strdup (row->value);
      line->sqnr_db = row->sqnr_db;
    }
}

/* What is known of @result: the column of float, and its own. */
static GPtrArray *
review_table_list_lines (VnRun *result)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (review_table_free_line);
  VnRunFigures figures;

  vn_run_figures_init (&figures, result);
  review_table_add (lines, _("Size"), vn_format_bytes (figures.float_bytes), vn_format_bytes (figures.quantized_bytes));
  review_table_add_answers (lines, &figures, &result->accuracy.kept);
  review_table_add_outputs (lines, result);
  if (!isnan (figures.runtime.integer_share))
    review_table_add (lines, figures.runtime.share_measured ? _("Integer MACs") : _("Integer MACs, estimated"),
                      review_table_format_share (0), review_table_format_share (figures.runtime.integer_share));
  if (figures.runtime.seconds > 0)
    review_table_add (lines, figures.runtime.time_measured ? _("Latency per sample, measured, one thread")
                                                   : _("Latency per sample, ONNX Runtime, estimated"),
                      review_table_format_time (figures.runtime.float_seconds),
                      review_table_format_time (figures.runtime.seconds));
  return lines;
}

static void
review_table_take_run (VnReviewTable *self,
                       VnRun         *result)
{
  const gboolean same = self->now.recipe != NULL && self->now.time == result->time &&
                        vn_recipe_equal (self->now.recipe, result->recipe);

  if (!same && self->now.recipe != NULL)
    {
      review_table_clear_run (&self->before);
      self->before = self->now;
      self->now = (Run) { 0 };
    }
  review_table_clear_run (&self->now);
  self->now = (Run) { result->time, vn_recipe_copy (result->recipe), review_table_list_lines (result) };
}

/* What is said of an output of two runs may be of different parts of it. */
static gboolean
review_table_is_same (const Line *a,
                      const Line *b)
{
  return a->output != NULL && b->output != NULL ? g_str_equal (a->output, b->output) : g_str_equal (a->title, b->title);
}

/* Copies the column of what is now of @from, as column @to. */
static void
review_table_merge (GPtrArray       *lines,
                    const GPtrArray *from,
                    Column           to)
{
  for (guint i = 0; from != NULL && i < from->len; i++)
    for (guint k = 0; k < lines->len; k++)
      {
        const Line *other = from->pdata[i];
        Line *line = lines->pdata[k];

        if (review_table_is_same (other, line) && line->cells[to] == NULL)
          line->cells[to] = g_strdup (other->cells[COLUMN_NOW]);
      }
}

static int
review_table_compare_sqnr (gconstpointer a,
                           gconstpointer b)
{
  const Line *p = *(Line * const *) a, *q = *(Line * const *) b;

  return p->sqnr_db < q->sqnr_db ? -1 : p->sqnr_db > q->sqnr_db;
}

/* Of many outputs the worst, in their order, and how many there are besides. */
static void
review_table_shorten (GPtrArray *lines)
{
  g_autoptr(GPtrArray) outputs = g_ptr_array_new ();
  Line *rest;
  guint n, last = 0;

  for (guint i = 0; i < lines->len; i++)
    if (((const Line *) lines->pdata[i])->output != NULL)
      g_ptr_array_add (outputs, lines->pdata[last = i]);
  if (outputs->len <= MOST_OUTPUTS)
    return;
  n = outputs->len - WORST_OUTPUTS;
  rest = g_new0 (Line, 1);
  rest->title = g_strdup_printf (ngettext ("%u more output, with less error", "%u more outputs, with less error", n), n);
  rest->cells[COLUMN_NOW] = g_strdup ("");
  g_ptr_array_insert (lines, (int) last + 1, rest);
  g_ptr_array_sort (outputs, review_table_compare_sqnr);
  g_ptr_array_remove_range (outputs, 0, WORST_OUTPUTS);
  for (guint i = 0; i < outputs->len; i++)
    g_ptr_array_remove (lines, outputs->pdata[i]);
}

static void
review_table_put (VnReviewTable *self,
                  const char    *text,
                  int            column,
                  int            row,
                  const char    *style)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), column == 0 ? 0 : 1);
  gtk_widget_set_hexpand (label, column == 0);
  if (column == 0)
    {
      gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
      gtk_widget_set_tooltip_text (label, text);
    }
  else
    gtk_widget_add_css_class (label, "numeric");
  if (style != NULL)
    gtk_widget_add_css_class (label, style);
  gtk_grid_attach (self->grid, label, column, row, 1, 1);
}

static void
review_table_fill (VnReviewTable   *self,
                   const GPtrArray *lines,
                   const char      *measured,
                   const gboolean   shown[N_COLUMNS])
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  const char *titles[N_COLUMNS] = { [COLUMN_FLOAT] = _("Float"), [COLUMN_BEFORE] = _("Before"), [COLUMN_NOW] = _("Now"),
                                    [COLUMN_EXPECTED] = result != NULL && result->state == VN_RUN_ESTIMATED
                                                        ? _("Estimated") : _("With All, Estimated") };
  int at = 1, row = 0;

  review_table_put (self, measured, 0, row, "heading");
  for (guint c = 0; c < N_COLUMNS; c++)
    if (shown[c])
      review_table_put (self, titles[c], at++, row, "heading");
  for (guint i = 0; i < lines->len; i++)
    {
      const Line *line = lines->pdata[i];

      row += 2;
      gtk_grid_attach (self->grid, gtk_separator_new (GTK_ORIENTATION_HORIZONTAL), 0, row - 1, at, 1);
      review_table_put (self, line->title, 0, row, NULL);
      for (guint c = 0, k = 1; c < N_COLUMNS; c++)
        if (shown[c])
          review_table_put (self, line->cells[c] != NULL ? line->cells[c] : "–", (int) k++, row, c == COLUMN_EXPECTED
                            ? "expected" : NULL);
    }
}

/**
 * vn_review_table_update:
 * @measured: on what the figures were found
 *
 * Shows the present result of the document. What was before is the last whole run with another recipe, or at another time. What
 * is expected is that of the present recipe, or else what the offered cures would come to together.
 */
void
vn_review_table_update (VnReviewTable *self,
                        const char    *measured)
{
  VnRun *result, *run, *awaited;
  GtkWidget *child;
  gboolean shown[N_COLUMNS] = { [COLUMN_FLOAT] = TRUE, [COLUMN_NOW] = TRUE };
  g_autoptr(GPtrArray) expected = NULL, lines = NULL;

  g_return_if_fail (VN_IS_REVIEW_TABLE (self));

  result = vn_bench_get_shown (VN_BENCH (self->document));
  /* also a kept one */
  run = result == NULL || result->state == VN_RUN_ESTIMATED ? vn_bench_get_confirmed (VN_BENCH (self->document)) : result;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->grid))) != NULL)
    gtk_grid_remove (self->grid, child);
  gtk_widget_set_visible (GTK_WIDGET (self->grid), run != NULL);
  if (run == NULL)
    return;
  review_table_take_run (self, run);
  lines = review_table_list_lines (run);
  review_table_shorten (lines);
  review_table_merge (lines, self->before.lines, COLUMN_BEFORE);
  shown[COLUMN_BEFORE] = self->before.lines != NULL;
  awaited = result != NULL && result->state == VN_RUN_ESTIMATED ? result : vn_bench_get_offered (VN_BENCH (self->document));
  if (awaited != NULL)
    {
      expected = review_table_list_lines (awaited);
      review_table_merge (lines, expected, COLUMN_EXPECTED);
      shown[COLUMN_EXPECTED] = TRUE;
    }
  review_table_fill (self, lines, measured, shown);
}

/* Nothing is left of another network. */
static void
review_table_forget (VnReviewTable *self)
{
  review_table_clear_run (&self->now);
  review_table_clear_run (&self->before);
}

/**
 * vn_review_table_set_document:
 *
 * To be called once.
 */
void
vn_review_table_set_document (VnReviewTable *self,
                              VnDocument    *document)
{
  g_return_if_fail (VN_IS_REVIEW_TABLE (self) && VN_IS_DOCUMENT (document) && self->document == NULL);

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (review_table_forget), self, G_CONNECT_SWAPPED);
}

static void
vn_review_table_dispose (GObject *object)
{
  review_table_forget (VN_REVIEW_TABLE (object));
  g_clear_object (&VN_REVIEW_TABLE (object)->document);
  G_OBJECT_CLASS (vn_review_table_parent_class)->dispose (object);
}

static void
vn_review_table_class_init (VnReviewTableClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_review_table_dispose;
}

static void
vn_review_table_init (VnReviewTable *self)
{
  self->grid = GTK_GRID (gtk_grid_new ());
  gtk_grid_set_column_spacing (self->grid, 24);
  gtk_widget_add_css_class (GTK_WIDGET (self->grid), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self->grid), "review-table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->grid), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Measured"), -1);
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->grid));
}
