/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the compare page: both sides, and two more models of the list. */
#include "vn-compare-table.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#include <math.h>

struct _VnCompareTable
{
  AdwBin           parent_instance;

  GListModel      *sources;
  GPtrArray       *watches;       /* of GSignalGroup: of each source, which may leave the list before */
  VnCompareSource *sides[2];      /* nullable */
  GPtrArray       *more;          /* of VnCompareSource */
  gboolean         busy;

  GtkGrid         *grid;
  GtkWidget       *choices;       /* box of the popover */
};

G_DEFINE_FINAL_TYPE (VnCompareTable, vn_compare_table, ADW_TYPE_BIN)

static const char * const compare_table_titles[] = { N_("Model"), N_("Size"), N_("Output SQNR"), N_("Top-1 agreement"),
                                                     N_("Integer MACs"), N_("Latency relative to float") };

/* ---- rows ---- */

static void
compare_table_attach (VnCompareTable *self,
                      const char     *text,
                      const char     *style,
                      guint           column,
                      guint           row)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), column == 0 ? 0 : 1);
  gtk_label_set_ellipsize (GTK_LABEL (label), column == 0 ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (label, TRUE);
  if (style != NULL)
    gtk_widget_add_css_class (label, style);
  if (column > 0)
    gtk_widget_add_css_class (label, "numeric");
  gtk_grid_attach (self->grid, label, (int) column, (int) row, 1, 1);
}

static char *
compare_table_dup_percent (double share)
{
  g_autofree char *text = NULL;

  if (isnan (share))
    return g_strdup ("–");
  text = vn_format_decimals (100 * share, 1);
  return g_strdup_printf ("%s\u00a0%%", text);
}

static char *
compare_table_dup_time (const VnRuntimeFigures *figures)
{
  g_autofree char *ratio = NULL, *time = NULL;

  if (isnan (figures->ratio))
    return g_strdup ("–");
  ratio = vn_format_number (figures->ratio, figures->time_measured || figures->ratio == 1 ? 3 : 2);
  time = figures->time_measured ? vn_format_duration (figures->seconds) : NULL;
  if (time != NULL)
    return g_strdup_printf (_("%s× · %s"), ratio, time);
  return figures->ratio == 1 ? g_strdup_printf ("%s×", ratio) : g_strdup_printf (_("%s× estimated"), ratio);
}

static void
compare_table_add_row (VnCompareTable  *self,
                       VnCompareSource *source,
                       guint            row)
{
  g_autofree char *title = g_strdup_printf ("%s  %s", source->title, source->detail), *bytes = NULL, *db = NULL,
  *agreement = NULL, *share = NULL, *time = NULL;
  VnRunFigures figures;

  compare_table_attach (self, title, NULL, 0, row);
  if (source->model == NULL)
    {
      compare_table_attach (self, vn_compare_source_is_busy (source) ? _("is being loaded") : _("could not be loaded"),
                            "dim-label", 1, row);
      return;
    }
  vn_compared_model_get_figures (source->model, &figures);
  bytes = figures.quantized_bytes > 0 ? vn_format_bytes (figures.quantized_bytes) : g_strdup ("–");
  db = vn_compared_model_is_float (source->model) ? g_strdup (_("reference")) : isnan (figures.outputs_db)
       ? g_strdup ("–") : vn_format_db (figures.outputs_db);
  agreement = compare_table_dup_percent (figures.agreement);
  share = compare_table_dup_percent (figures.runtime.integer_share);
  time = compare_table_dup_time (&figures.runtime);
  compare_table_attach (self, bytes, NULL, 1, row);
  compare_table_attach (self, db, NULL, 2, row);
  compare_table_attach (self, agreement, NULL, 3, row);
  compare_table_attach (self, share, NULL, 4, row);
  compare_table_attach (self, time, NULL, 5, row);
}

static gboolean
compare_table_has (VnCompareTable  *self,
                   VnCompareSource *source)
{
  return source == self->sides[0] || source == self->sides[1] || g_ptr_array_find (self->more, source, NULL);
}

static void
compare_table_clear (VnCompareTable *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->grid))) != NULL)
    gtk_grid_remove (self->grid, child);
}

static void
compare_table_update (VnCompareTable *self)
{
  guint row = 0;

  compare_table_clear (self);
  for (guint i = 0; i < G_N_ELEMENTS (compare_table_titles); i++)
    compare_table_attach (self, _(compare_table_titles[i]), "caption-heading", i, 0);
  for (guint i = 0; i < 2; i++)
    if (self->sides[i] != NULL && (i == 0 || self->sides[1] != self->sides[0]))
      compare_table_add_row (self, self->sides[i], ++row);
  for (guint i = 0; i < self->more->len; i++)
    if (g_ptr_array_index (self->more, i) != self->sides[0] && g_ptr_array_index (self->more, i) != self->sides[1] &&
        row < VN_COMPARE_MOST)
      compare_table_add_row (self, g_ptr_array_index (self->more, i), ++row);
}

/* ---- what is in it ---- */

/* Returns %FALSE if there are four already. */
static gboolean
compare_table_add (VnCompareTable  *self,
                   VnCompareSource *source)
{
  if (compare_table_has (self, source))
    return TRUE;
  if (vn_compare_table_get_n (self) >= VN_COMPARE_MOST)
    return FALSE;
  g_ptr_array_add (self->more, g_object_ref (source));
  vn_compare_source_load (source);
  compare_table_update (self);
  return TRUE;
}

static void
compare_table_toggled (GtkCheckButton *button,
                       VnCompareTable *self)
{
  VnCompareSource *source = g_object_get_data (G_OBJECT (button), "source");

  if (self->busy)
    return;
  if (!gtk_check_button_get_active (button))
    g_ptr_array_remove (self->more, source);
  else if (!compare_table_add (self, source))
    {
      self->busy = TRUE;
      gtk_check_button_set_active (button, FALSE);
      self->busy = FALSE;
    }
  compare_table_update (self);
}

static void
compare_table_fill_choices (GtkWidget      *popover,
                            VnCompareTable *self)
{
  guint n = self->sources != NULL ? g_list_model_get_n_items (self->sources) : 0;

  vn_box_clear (self->choices);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnCompareSource) source = g_list_model_get_item (self->sources, i);
      g_autofree char *title = g_strdup_printf ("%s  %s", source->title, source->detail);
      GtkWidget *button;

      if (source->kind == VN_COMPARE_OPEN)
        continue;
      button = gtk_check_button_new_with_label (title);
      gtk_check_button_set_active (GTK_CHECK_BUTTON (button), compare_table_has (self, source));
      gtk_widget_set_sensitive (button, source != self->sides[0] && source != self->sides[1]);
      g_object_set_data_full (G_OBJECT (button), "source", g_object_ref (source), g_object_unref);
      g_signal_connect (button, "toggled", G_CALLBACK (compare_table_toggled), self);
      gtk_box_append (GTK_BOX (self->choices), button);
    }
}

/* ---- widget ---- */

static void
vn_compare_table_dispose (GObject *object)
{
  VnCompareTable *self = VN_COMPARE_TABLE (object);

  g_clear_pointer (&self->watches, g_ptr_array_unref);
  g_clear_object (&self->sources);
  g_clear_object (&self->sides[0]);
  g_clear_object (&self->sides[1]);
  g_clear_pointer (&self->more, g_ptr_array_unref);
  G_OBJECT_CLASS (vn_compare_table_parent_class)->dispose (object);
}

static void
vn_compare_table_class_init (VnCompareTableClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_compare_table_dispose;
}

static GtkWidget *
compare_table_make_button (VnCompareTable *self)
{
  GtkWidget *button = gtk_menu_button_new (), *popover = gtk_popover_new ();

  self->choices = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_popover_set_child (GTK_POPOVER (popover), self->choices);
  gtk_menu_button_set_label (GTK_MENU_BUTTON (button), _("Choose Models"));
  gtk_widget_set_tooltip_text (button, _("Up to four models are compared in the table"));
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (button), popover);
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  g_signal_connect (popover, "show", G_CALLBACK (compare_table_fill_choices), self);
  return button;
}

static void
vn_compare_table_init (VnCompareTable *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12), *scrolled = gtk_scrolled_window_new ();

  self->watches = g_ptr_array_new_with_free_func (g_object_unref);
  self->more = g_ptr_array_new_with_free_func (g_object_unref);
  self->grid = GTK_GRID (gtk_grid_new ());
  gtk_grid_set_column_spacing (self->grid, 24);
  gtk_grid_set_row_spacing (self->grid, 12);
  gtk_widget_add_css_class (GTK_WIDGET (self->grid), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self->grid), "compare-figures");
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->grid));
  gtk_box_append (GTK_BOX (box), compare_table_make_button (self));
  gtk_widget_add_css_class (box, "compare-body");
  gtk_widget_set_margin_top (box, 12);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), box);
  gtk_widget_add_css_class (GTK_WIDGET (self), "compare-table");
  adw_bin_set_child (ADW_BIN (self), scrolled);
}

/**
 * vn_compare_table_set_list:
 * @sources: (element-type VnCompareSource): what can be chosen; what is not in it any more leaves the table
 */
void
vn_compare_table_set_list (VnCompareTable *self,
                           GListModel     *sources)
{
  g_return_if_fail (VN_IS_COMPARE_TABLE (self));

  g_ptr_array_set_size (self->watches, 0);
  g_set_object (&self->sources, sources);
  for (guint i = self->more->len; i > 0; i--)
    {
      gboolean is_there = FALSE;

      for (guint k = 0; k < g_list_model_get_n_items (sources); k++)
        {
          g_autoptr(VnCompareSource) source = g_list_model_get_item (sources, k);

          is_there |= source == g_ptr_array_index (self->more, i - 1);
        }
      if (!is_there)
        g_ptr_array_remove_index (self->more, i - 1);
    }
  for (guint i = 0; i < g_list_model_get_n_items (sources); i++)
    {
      g_autoptr(VnCompareSource) source = g_list_model_get_item (sources, i);
      GSignalGroup *watch = g_signal_group_new (VN_TYPE_COMPARE_SOURCE);

      g_signal_group_connect_swapped (watch, "changed", G_CALLBACK (compare_table_update), self);
      g_signal_group_set_target (watch, source);
      g_ptr_array_add (self->watches, watch);
    }
  compare_table_update (self);
}

/**
 * vn_compare_table_set_sides:
 *
 * What the two graphs show is always in the table.
 */
void
vn_compare_table_set_sides (VnCompareTable  *self,
                            VnCompareSource *first,
                            VnCompareSource *second)
{
  g_return_if_fail (VN_IS_COMPARE_TABLE (self));

  g_set_object (&self->sides[0], first);
  g_set_object (&self->sides[1], second);
  compare_table_update (self);
}

/**
 * vn_compare_table_get_n:
 *
 * Returns: how many models are in the table
 */
guint
vn_compare_table_get_n (VnCompareTable *self)
{
  guint n = 0;

  g_return_val_if_fail (VN_IS_COMPARE_TABLE (self), 0);

  n = (self->sides[0] != NULL) + (self->sides[1] != NULL && self->sides[1] != self->sides[0]);
  for (guint i = 0; i < self->more->len; i++)
    n += g_ptr_array_index (self->more, i) != self->sides[0] && g_ptr_array_index (self->more, i) != self->sides[1];
  return n;
}
