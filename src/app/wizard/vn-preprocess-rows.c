/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preset, size, colours, mean, deviation and layout of pictures. */
#include "vn-preprocess-rows.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#include <string.h>

struct _VnPreprocessRows
{
  AdwBin        parent_instance;

  VnPreprocess  settings;        /* as shown */
  gboolean      busy;            /* rows are being filled in, not by the user */

  AdwComboRow  *preset, *fit, *color, *layout;
  GtkEditable  *mean, *deviation;
  GtkLabel     *origin;
};

G_DEFINE_FINAL_TYPE (VnPreprocessRows, vn_preprocess_rows, ADW_TYPE_BIN)

/* The row after the last preset stands for settings that are none of them, and is there only while that is so: choosing it
   would change nothing. */
static void
preprocess_rows_show_preset (VnPreprocessRows   *self,
                             const VnPreprocess *settings)
{
  GtkStringList *names = GTK_STRING_LIST (adw_combo_row_get_model (self->preset));
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n), *preset = vn_preprocess_find_preset (settings);

  if (preset == NULL && g_list_model_get_n_items (G_LIST_MODEL (names)) == n)
    gtk_string_list_append (names, _("Custom"));
  adw_combo_row_set_selected (self->preset, preset != NULL ? (guint) (preset - presets) : n);
  if (preset != NULL && g_list_model_get_n_items (G_LIST_MODEL (names)) > n)
    gtk_string_list_remove (names, n);
}

/* One number stands for all channels. */
static gboolean
preprocess_rows_parse_numbers (GtkEditable *entry,
                               float        numbers[4])
{
  guint n = 0;

  if (!vn_format_parse_floats (gtk_editable_get_text (entry), numbers, 4, &n) || n == 0)
    return FALSE;
  for (guint i = n; i < 4; i++)
    numbers[i] = numbers[n - 1];
  return TRUE;
}

/* What was just typed stays as it is: a row whose text changes under the hand believes that there is something to apply. */
static void
preprocess_rows_show_numbers (GtkEditable *entry,
                              const float *values)
{
  g_autofree char *text = vn_format_floats (values, 3);
  float numbers[4];

  if (!preprocess_rows_parse_numbers (entry, numbers) || memcmp (numbers, values, 3 * sizeof *values) != 0)
    gtk_editable_set_text (entry, text);
  gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
}

/**
 * vn_preprocess_rows_show:
 *
 * Fills in the rows, without telling.
 */
void
vn_preprocess_rows_show (VnPreprocessRows   *self,
                         const VnPreprocess *settings)
{
  g_return_if_fail (VN_IS_PREPROCESS_ROWS (self) && settings != NULL);

  self->busy = TRUE;
  self->settings = *settings;
  preprocess_rows_show_preset (self, settings);
  adw_combo_row_set_selected (self->fit, settings->fit);
  adw_combo_row_set_selected (self->color, settings->color);
  adw_combo_row_set_selected (self->layout, settings->layout);
  preprocess_rows_show_numbers (self->mean, settings->mean);
  preprocess_rows_show_numbers (self->deviation, settings->std);
  self->busy = FALSE;
}

/**
 * vn_preprocess_rows_show_origin:
 * @text: (nullable): where the settings come from, or should
 */
void
vn_preprocess_rows_show_origin (VnPreprocessRows *self,
                                const char       *text)
{
  g_return_if_fail (VN_IS_PREPROCESS_ROWS (self));

  gtk_label_set_label (self->origin, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->origin), text != NULL);
}

static void
preprocess_rows_preset_changed (VnPreprocessRows *self)
{
  guint selected = adw_combo_row_get_selected (self->preset);
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);
  VnPreprocess settings = self->settings;

  if (!self->busy && selected < n && vn_preprocess_set_preset (&settings, presets[selected].id, NULL))
    g_signal_emit_by_name (self, "changed", &settings);
}

static gboolean
preprocess_rows_read_numbers (GtkEditable *entry,
                              float       *values,
                              gboolean     positive)
{
  float numbers[4];
  gboolean ok = preprocess_rows_parse_numbers (entry, numbers);

  for (guint i = 0; ok && positive && i < G_N_ELEMENTS (numbers); i++)
    ok = numbers[i] > 0;
  if (!ok)
    {
      gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
      return FALSE;
    }
  memcpy (values, numbers, sizeof numbers);
  return TRUE;
}

static void
preprocess_rows_changed (VnPreprocessRows *self)
{
  VnPreprocess settings = self->settings;

  if (self->busy)
    return;
  settings.fit = (VnFit) adw_combo_row_get_selected (self->fit);
  settings.color = (VnColorOrder) adw_combo_row_get_selected (self->color);
  settings.layout = (VnLayout) adw_combo_row_get_selected (self->layout);
  if (preprocess_rows_read_numbers (self->mean, settings.mean, FALSE) &&
      preprocess_rows_read_numbers (self->deviation, settings.std, TRUE))
    g_signal_emit_by_name (self, "changed", &settings);
}

static void
preprocess_rows_fill_presets (VnPreprocessRows *self)
{
  g_autoptr(GtkStringList) names = gtk_string_list_new (NULL);
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);

  for (guint i = 0; i < n; i++)
    gtk_string_list_append (names, _(presets[i].title));
  adw_combo_row_set_model (self->preset, G_LIST_MODEL (names));
  vn_combo_row_show_whole (self->preset);
}

static void
vn_preprocess_rows_dispose (GObject *object)
{
  VN_PREPROCESS_ROWS (object)->busy = TRUE;
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_PREPROCESS_ROWS);
  G_OBJECT_CLASS (vn_preprocess_rows_parent_class)->dispose (object);
}

static void
vn_preprocess_rows_class_init (VnPreprocessRowsClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_preprocess_rows_dispose;
  g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-preprocess-rows.ui");
  gtk_widget_class_bind_template_child (widget_class, VnPreprocessRows, preset);
  gtk_widget_class_bind_template_child (widget_class, VnPreprocessRows, fit);
  gtk_widget_class_bind_template_child (widget_class, VnPreprocessRows, color);
  gtk_widget_class_bind_template_child (widget_class, VnPreprocessRows, layout);
  gtk_widget_class_bind_template_child (widget_class, VnPreprocessRows, mean);
  gtk_widget_class_bind_template_child (widget_class, VnPreprocessRows, deviation);
  gtk_widget_class_bind_template_child (widget_class, VnPreprocessRows, origin);
  gtk_widget_class_bind_template_callback (widget_class, preprocess_rows_changed);
  gtk_widget_class_bind_template_callback (widget_class, preprocess_rows_preset_changed);
}

static void
vn_preprocess_rows_init (VnPreprocessRows *self)
{
  self->busy = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  preprocess_rows_fill_presets (self);
  self->busy = FALSE;
}
