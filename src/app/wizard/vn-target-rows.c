/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of models that read no images: what the present target makes of the file, and targets that need no samples, told before
 * anything runs. */
#include "vn-target-rows.h"

#include "vn-body.h"
#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-suggest.h"

struct _VnTargetRows
{
  AdwBin      parent_instance;

  VnDocument *document;
  GtkListBox *present, *suggested;
  GtkLabel   *reason;
};

G_DEFINE_FINAL_TYPE (VnTargetRows, vn_target_rows, ADW_TYPE_BIN)

/**
 * vn_target_dup_text:
 * @preset: id of a target
 * @is_impossible: (out) (optional): the text is what a run would fail with
 *
 * Returns: (transfer full) (nullable): what it makes of the open model; %NULL: it is not known yet, or not told
 */
char *
vn_target_dup_text (VnDocument *document,
                    const char *preset,
                    gboolean   *is_impossible)
{
  const VnCoverage *coverage;
  const char *reason;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && preset != NULL, NULL);

  vn_bench_find_coverage (VN_BENCH (document), preset, &coverage, &reason);
  if (is_impossible != NULL)
    *is_impossible = coverage == NULL && reason != NULL;
  return coverage != NULL ? vn_coverage_dup_text (coverage) : g_strdup (reason);
}

static void
target_rows_clicked (VnTargetRows *self,
                     GtkWidget    *button)
{
  vn_bench_set_target (VN_BENCH (self->document), g_object_get_data (G_OBJECT (button), "vn-preset"));
}

static void
target_rows_subgraphs_clicked (VnTargetRows *self)
{
  VnRecipe *recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (self->document)));

  recipe->subgraphs = TRUE;
  vn_bench_edit_recipe (VN_BENCH (self->document), recipe, _("Quantize subgraphs"));
}

/* All that has weights may be inside nodes. */
static gboolean
target_rows_wants_subgraphs (VnTargetRows *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));

  return !vn_bench_get_recipe (VN_BENCH (self->document))->subgraphs && vn_graph_count_inner_nodes (model->graph) > 0;
}

static void
target_rows_add_button (VnTargetRows *self,
                        GtkWidget    *row,
                        GtkWidget    *button,
                        GCallback     clicked)
{
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
}

static void
target_rows_add_use (VnTargetRows   *self,
                     GtkWidget      *row,
                     const VnPreset *preset)
{
  g_autofree char *name = g_strdup_printf (_("Use %s"), _(preset->title));
  GtkWidget *button = gtk_button_new_with_label (_("Use"));

  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data (G_OBJECT (button), "vn-preset", (gpointer) preset);
  target_rows_add_button (self, row, button, G_CALLBACK (target_rows_clicked));
}

static void
target_rows_add_mark (GtkWidget *row)
{
  GtkWidget *mark = gtk_image_new_from_icon_name ("object-select-symbolic");

  gtk_accessible_update_property (GTK_ACCESSIBLE (mark), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Present target"), -1);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), mark);
}

/* What stands where it is not known what a target does to the model. */
static const char *
target_rows_explain (VnTargetRows   *self,
                     const VnPreset *preset)
{
  if (vn_bench_tells_of_target (VN_BENCH (self->document), preset->id))
    return _("calculating…");
  return preset->summary != NULL ? _(preset->summary) : "";
}

static void
target_rows_add (VnTargetRows   *self,
                 const VnPreset *preset,
                 gboolean        is_present)
{
  GtkWidget *row = adw_action_row_new ();
  gboolean is_impossible;
  g_autofree char *text = vn_target_dup_text (self->document, preset->id, &is_impossible);
  const gboolean wants_subgraphs = is_impossible && target_rows_wants_subgraphs (self);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(preset->title));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), text != NULL ? text : target_rows_explain (self, preset));
  if (!is_present)
    target_rows_add_use (self, row, preset);
  else if (wants_subgraphs)
    target_rows_add_button (self, row, vn_button_new_with_mnemonic (_("Quantize _Subgraphs")),
                            G_CALLBACK (target_rows_subgraphs_clicked));
  else
    target_rows_add_mark (row);
  gtk_list_box_append (is_present ? self->present : self->suggested, row);
}

/* What nobody sees is not calculated. */
static void
target_rows_update (VnTargetRows *self)
{
  VnModel *model = self->document != NULL ? vn_bench_get_model (VN_BENCH (self->document)) : NULL;
  g_autofree char *reason = vn_suggest_dup_reason (model);
  g_autoptr(GPtrArray) presets = NULL;
  const VnPreset *present;
  guint n_first;

  gtk_widget_set_visible (GTK_WIDGET (self), reason != NULL);
  if (reason == NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  presets = vn_suggest_presets (model, &n_first);
  present = vn_preset_find (vn_bench_get_recipe (VN_BENCH (self->document))->preset, NULL);
  gtk_label_set_label (self->reason, reason);
  vn_list_box_clear (self->present);
  vn_list_box_clear (self->suggested);
  if (present != NULL)
    target_rows_add (self, present, TRUE);
  for (guint i = 0; i < n_first; i++)
    if (presets->pdata[i] != present)
      target_rows_add (self, presets->pdata[i], FALSE);
}

/**
 * vn_target_rows_set_document:
 *
 * To be called once.
 */
void
vn_target_rows_set_document (VnTargetRows *self,
                             VnDocument   *document)
{
  static const char * const changes[] = { "changed::model", "changed::recipe", "changed::data", "changed::coverage" };

  g_return_if_fail (VN_IS_TARGET_ROWS (self) && VN_IS_DOCUMENT (document) && self->document == NULL);

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    g_signal_connect_object (document, changes[i], G_CALLBACK (target_rows_update), self, G_CONNECT_SWAPPED);
  target_rows_update (self);
}

static void
vn_target_rows_dispose (GObject *object)
{
  g_clear_object (&VN_TARGET_ROWS (object)->document);
  G_OBJECT_CLASS (vn_target_rows_parent_class)->dispose (object);
}

static void
vn_target_rows_class_init (VnTargetRowsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_target_rows_dispose;
}

static void
vn_target_rows_init (VnTargetRows *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);

  self->present = GTK_LIST_BOX (vn_row_list_new ());
  self->suggested = GTK_LIST_BOX (vn_row_list_new ());
  self->reason = GTK_LABEL (vn_label_new ("", "dim-label"));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->present));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->reason));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->suggested));
  adw_bin_set_child (ADW_BIN (self), vn_section_new (_("Target"), NULL, box));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  g_signal_connect_after (self, "map", G_CALLBACK (target_rows_update), NULL);
}
