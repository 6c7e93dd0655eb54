/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The legend over the canvas: choice of what the colours show, its scale, and the key of colours. */
#include "vn-legend.h"

#include "legend-key.h"
#include "legend-scale.h"
#include "vn-heat-bar.h"
#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define WIDTH        288
#define KEYS_PER_ROW  3

struct _VnLegend
{
  GtkWidget      parent_instance;

  GtkWidget     *stack;
  GtkWidget     *header;
  GtkWidget     *choice;                   /* GtkDropDown */
  GtkStringList *titles;                   /* of what can be chosen: the last is a file, if one is open */
  GtkWidget     *unit;
  GtkWidget     *bar;                      /* of errors */
  GtkWidget     *scale;                    /* of amounts and differences */
  GtkWidget     *runs;                     /* GtkDropDown: which run a difference is to */
  GtkWidget     *keys;                     /* GtkGrid */
  GtkWidget     *note;                     /* GtkLabel: where the figures come from */
  VnHeatHandles  handles[VN_N_CHOICES], defaults[VN_N_CHOICES];
  VnOverlayKind  keys_kind;                /* what the keys are of, and which of them are there */
  guint          keys_shown;
  VnOverlayKind  file_kind;                /* of the numbers of the file */
  gboolean       quiet;                    /* being set, not chosen */
};

G_STATIC_ASSERT (VN_CHOICE_FILE == VN_N_CHOICES - 1);

G_DEFINE_FINAL_TYPE (VnLegend, vn_legend, GTK_TYPE_WIDGET)

/* "dB, higher is better": unit and direction always in words. */
static char *
legend_dup_unit (VnOverlayChoice choice,
                 VnOverlayKind   kind)
{
  const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info (choice);
  const VnMetricInfo *metric = vn_metric_get_info (info->metric);
  gboolean has_unit = metric->unit != NULL && *metric->unit != '\0';

  if (kind == VN_OVERLAY_AMOUNT)
    return g_strdup (_("share of the total"));
  if (kind == VN_OVERLAY_DIFFERENCE)
    return g_strdup (_("dB, positive is a gain"));
  if (kind != VN_OVERLAY_ERROR)
    return g_strdup ("");
  if (metric->scale == VN_SCALE_SHARE)
    return g_strdup (_("share, lower is better"));
  return g_strdup_printf ("%s%s%s", has_unit ? _(metric->unit) : "", has_unit ? ", " : "",
                          vn_metric_is_higher_better (info->metric) ? _("higher is better") : _("lower is better"));
}

/* Whether a bar without handles explains the colours. */
static gboolean
legend_has_scale (VnOverlayKind kind)
{
  return kind == VN_OVERLAY_AMOUNT || kind == VN_OVERLAY_NUMBER || kind == VN_OVERLAY_DIFFERENCE;
}

static void
legend_show_choice (VnLegend *self)
{
  VnOverlayChoice choice = vn_legend_get_choice (self);
  const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info (choice);
  VnOverlayKind kind = vn_legend_get_kind (self);
  g_autofree char *unit = legend_dup_unit (choice, kind);
  guint n_bands;

  gtk_widget_set_visible (self->bar, kind == VN_OVERLAY_ERROR);
  gtk_widget_set_visible (self->scale, legend_has_scale (kind));
  gtk_widget_set_visible (self->runs, kind == VN_OVERLAY_DIFFERENCE);
  gtk_widget_set_visible (self->keys, vn_overlay_kind_get_bands (kind, &n_bands) != NULL);
  gtk_label_set_text (GTK_LABEL (self->unit), unit);
  gtk_widget_set_tooltip_text (self->unit, _(info->words));
  gtk_widget_set_tooltip_text (self->choice, _(info->words));
  if (kind == VN_OVERLAY_ERROR)
    vn_heat_bar_set_metric (VN_HEAT_BAR (self->bar), info->metric, self->handles[choice], self->defaults[choice]);
  else if (gtk_widget_get_visible (self->scale))
    vn_legend_scale_set_overlay (self->scale, kind, NULL);
}

static void
legend_choice_changed (VnLegend *self)
{
  legend_show_choice (self);
  if (!self->quiet)
    g_signal_emit_by_name (self, "overlay-changed");
}

static void
legend_run_chosen (VnLegend *self)
{
  if (!self->quiet)
    g_signal_emit_by_name (self, "run-chosen");
}

static void
legend_handles_changed (VnLegend *self)
{
  self->handles[vn_legend_get_choice (self)] = vn_heat_bar_get_handles (VN_HEAT_BAR (self->bar));
  g_signal_emit_by_name (self, "handles-changed");
}

static void
legend_threshold_dragged (VnLegend *self,
                          double    axis,
                          gboolean  is_over)
{
  g_signal_emit_by_name (self, "threshold-dragged", axis, is_over);
}

static void
legend_quantize_clicked (VnLegend *self)
{
  g_signal_emit_by_name (self, "quantize");
}

static void
legend_key_clicked (VnLegend  *self,
                    GtkWidget *key)
{
  g_signal_emit_by_name (self, "band-activated",
                         GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (key), "band")));
}

/* ---- parts ---- */

/* Bands of errors are always there; of other kinds those that nodes are in. @shown: one bit a band */
static void
legend_make_keys (VnLegend      *self,
                  VnOverlayKind  kind,
                  guint          shown)
{
  guint n, place = 0;
  const VnOverlayBand *bands = vn_overlay_kind_get_bands (kind, &n);
  GtkWidget *child;

  if (kind == self->keys_kind && shown == self->keys_shown)
    return;
  self->keys_kind = kind;
  self->keys_shown = shown;
  while ((child = gtk_widget_get_first_child (self->keys)) != NULL)
    gtk_grid_remove (GTK_GRID (self->keys), child);
  for (guint i = 0; i < n; i++)
    if (shown & (1u << i))
      {
        GtkWidget *key = vn_legend_key_new (kind, i, _(bands[i].title));

        g_signal_connect_swapped (key, "clicked", G_CALLBACK (legend_key_clicked), self);
        gtk_grid_attach (GTK_GRID (self->keys), key, (int) (place % KEYS_PER_ROW), (int) (place / KEYS_PER_ROW), 1, 1);
        place++;
      }
}

static GtkWidget *
legend_make_choice (VnLegend *self)
{
  GtkWidget *choice;

  self->titles = gtk_string_list_new (NULL);
  for (guint i = 0; i < VN_CHOICE_FILE; i++)
    gtk_string_list_append (self->titles, _(vn_overlay_choice_get_info ((VnOverlayChoice) i)->title));
  choice = gtk_drop_down_new (G_LIST_MODEL (self->titles), NULL);
  gtk_widget_add_css_class (choice, "flat");
  gtk_widget_add_css_class (choice, "legend-choice");
  gtk_accessible_update_property (GTK_ACCESSIBLE (choice), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Node coloring"), -1);
  g_signal_connect_swapped (choice, "notify::selected", G_CALLBACK (legend_choice_changed), self);
  return choice;
}

static void
legend_add_rest (VnLegend  *self,
                 GtkWidget *box)
{
  self->runs = gtk_drop_down_new (NULL, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->runs), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Run to compare with"), -1);
  gtk_widget_set_tooltip_text (self->runs, _("Run that the current one is compared with"));
  g_signal_connect_swapped (self->runs, "notify::selected", G_CALLBACK (legend_run_chosen), self);
  gtk_box_append (GTK_BOX (box), self->runs);
  self->keys = gtk_grid_new ();
  gtk_grid_set_column_homogeneous (GTK_GRID (self->keys), TRUE);
  gtk_box_append (GTK_BOX (box), self->keys);
  self->note = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->note), 0);
  gtk_label_set_wrap (GTK_LABEL (self->note), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (self->note), 44);
  gtk_widget_set_margin_start (self->note, 6);
  gtk_widget_set_visible (self->note, FALSE);
  gtk_widget_add_css_class (self->note, "caption");
  gtk_box_append (GTK_BOX (box), self->note);
}

static GtkWidget *
legend_make_scale_page (VnLegend *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4);

  self->header = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->choice = legend_make_choice (self);
  self->unit = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->unit, "caption");
  gtk_widget_add_css_class (self->unit, "dim-label");
  gtk_widget_set_hexpand (self->unit, TRUE);
  gtk_widget_set_halign (self->unit, GTK_ALIGN_END);
  gtk_label_set_ellipsize (GTK_LABEL (self->unit), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (self->header), self->choice);
  gtk_box_append (GTK_BOX (self->header), self->unit);
  gtk_box_append (GTK_BOX (box), self->header);
  self->bar = vn_heat_bar_new ();
  g_signal_connect_swapped (self->bar, "handles-changed", G_CALLBACK (legend_handles_changed), self);
  g_signal_connect_swapped (self->bar, "threshold-dragged", G_CALLBACK (legend_threshold_dragged), self);
  gtk_box_append (GTK_BOX (box), self->bar);
  self->scale = vn_legend_scale_new ();
  gtk_box_append (GTK_BOX (box), self->scale);
  legend_add_rest (self, box);
  return box;
}

static GtkWidget *
legend_make_empty_page (VnLegend *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = gtk_label_new (_("No error measured yet"));
  GtkWidget *button = gtk_button_new_with_label (_("Quantize…"));

  gtk_widget_set_hexpand (label, TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_set_margin_start (label, 6);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (legend_quantize_clicked), self);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), button);
  return box;
}

/* ---- object ---- */

static void
vn_legend_dispose (GObject *object)
{
  VnLegend *self = VN_LEGEND (object);

  g_clear_pointer (&self->stack, gtk_widget_unparent);
  G_OBJECT_CLASS (vn_legend_parent_class)->dispose (object);
}

static void
vn_legend_class_init (VnLegendClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = vn_legend_dispose;
  g_signal_new ("overlay-changed", VN_TYPE_LEGEND, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("handles-changed", VN_TYPE_LEGEND, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("run-chosen", VN_TYPE_LEGEND, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("threshold-dragged", VN_TYPE_LEGEND, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_DOUBLE,
                G_TYPE_BOOLEAN);
  g_signal_new ("band-activated", VN_TYPE_LEGEND, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                G_TYPE_UINT);
  g_signal_new ("quantize", VN_TYPE_LEGEND, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_css_name (widget_class, "legend");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
vn_legend_init (VnLegend *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  for (guint i = 0; i < VN_N_CHOICES; i++)
    self->handles[i] = self->defaults[i] = vn_heat_default_handles (vn_overlay_choice_get_info ((VnOverlayChoice) i)->metric);
  self->stack = gtk_stack_new ();
  gtk_stack_set_hhomogeneous (GTK_STACK (self->stack), FALSE);
  gtk_stack_set_vhomogeneous (GTK_STACK (self->stack), FALSE);
  gtk_stack_add_named (GTK_STACK (self->stack), legend_make_empty_page (self), "empty");
  gtk_stack_add_named (GTK_STACK (self->stack), legend_make_scale_page (self), "scale");
  gtk_widget_set_margin_top (self->stack, 8);
  gtk_widget_set_margin_bottom (self->stack, 8);
  gtk_widget_set_margin_start (self->stack, 8);
  gtk_widget_set_margin_end (self->stack, 8);
  gtk_widget_set_parent (self->stack, widget);
  gtk_widget_add_css_class (widget, "floating");
  gtk_widget_set_size_request (widget, WIDTH, -1);
  gtk_widget_set_halign (widget, GTK_ALIGN_START);
  gtk_widget_set_valign (widget, GTK_ALIGN_START);
  gtk_widget_set_margin_top (widget, 12);
  gtk_widget_set_margin_start (widget, 12);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Legend"), -1);
  vn_legend_set_choice (self, VN_CHOICE_CUMULATIVE);
  legend_show_choice (self);
  vn_legend_set_overlay (self, NULL);
}

/* ---- public ---- */

/**
 * vn_legend_new:
 *
 * Returns: (transfer floating): a legend that says that nothing is measured
 */
GtkWidget *
vn_legend_new (void)
{
  return g_object_new (VN_TYPE_LEGEND, NULL);
}

/**
 * vn_legend_get_choice:
 *
 * Returns: what the user wants to see
 */
VnOverlayChoice
vn_legend_get_choice (VnLegend *self)
{
  guint selected;

  g_return_val_if_fail (VN_IS_LEGEND (self), VN_CHOICE_NONE);

  selected = gtk_drop_down_get_selected (GTK_DROP_DOWN (self->choice));
  return selected < VN_N_CHOICES ? (VnOverlayChoice) selected : VN_CHOICE_NONE;
}

/**
 * vn_legend_set_choice:
 *
 * Chooses what the colours show; no signal.
 */
void
vn_legend_set_choice (VnLegend        *self,
                      VnOverlayChoice  choice)
{
  g_return_if_fail (VN_IS_LEGEND (self));
  g_return_if_fail ((guint) choice < VN_N_CHOICES);

  self->quiet = TRUE;
  gtk_drop_down_set_selected (GTK_DROP_DOWN (self->choice), choice);
  self->quiet = FALSE;
}

/**
 * vn_legend_get_kind:
 *
 * Returns: of what kind that is
 */
VnOverlayKind
vn_legend_get_kind (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), VN_OVERLAY_NONE);

  if (vn_legend_get_choice (self) == VN_CHOICE_FILE)
    return self->file_kind;
  return vn_overlay_choice_get_info (vn_legend_get_choice (self))->kind;
}

/**
 * vn_legend_set_file:
 * @title: (nullable): what the numbers of a file are called; %NULL: none is open
 * @kind: of them
 *
 * Lets the file be chosen, or not any more. No signal.
 */
void
vn_legend_set_file (VnLegend      *self,
                    const char    *title,
                    VnOverlayKind  kind)
{
  VnOverlayChoice choice;

  g_return_if_fail (VN_IS_LEGEND (self));

  choice = vn_legend_get_choice (self);
  self->quiet = TRUE;
  self->file_kind = kind;
  gtk_string_list_splice (self->titles, VN_CHOICE_FILE, g_list_model_get_n_items (G_LIST_MODEL (self->titles)) - VN_CHOICE_FILE,
                          title != NULL ? (const char * const []) { title, NULL } : NULL);
  gtk_drop_down_set_selected (GTK_DROP_DOWN (self->choice), title == NULL && choice == VN_CHOICE_FILE ? VN_CHOICE_NONE : choice);
  self->quiet = FALSE;
  legend_show_choice (self);
}

/**
 * vn_legend_has_file:
 *
 * Returns: whether a file can be chosen
 */
gboolean
vn_legend_has_file (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), FALSE);

  return g_list_model_get_n_items (G_LIST_MODEL (self->titles)) > VN_CHOICE_FILE;
}

/**
 * vn_legend_get_metric:
 *
 * Returns: the metric whose scale the chosen errors have; SQNR for what is no error
 */
VnMetric
vn_legend_get_metric (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), VN_METRIC_SQNR);

  return vn_overlay_choice_get_info (vn_legend_get_choice (self))->metric;
}

/**
 * vn_legend_get_handles:
 *
 * Returns: where the handles of what is chosen stand
 */
VnHeatHandles
vn_legend_get_handles (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), ((VnHeatHandles) { 0 }));

  return self->handles[vn_legend_get_choice (self)];
}

/**
 * vn_legend_set_defaults:
 * @defaults: where the handles stand for this network before anybody moves them
 *
 * Puts the handles there, and back there on a double click; handles that were moved stay while the defaults are the same. No
 * signal.
 */
void
vn_legend_set_defaults (VnLegend        *self,
                        VnOverlayChoice  choice,
                        VnHeatHandles    defaults)
{
  g_return_if_fail (VN_IS_LEGEND (self));
  g_return_if_fail ((guint) choice < VN_N_CHOICES);

  if (self->defaults[choice].fine == defaults.fine && self->defaults[choice].bad == defaults.bad)
    return;
  self->defaults[choice] = self->handles[choice] = defaults;
  if (choice == vn_legend_get_choice (self))
    legend_show_choice (self);
}

static guint
legend_find_shown (VnOverlayKind    kind,
                   const VnOverlay *overlay)
{
  guint n, shown = 0;

  vn_overlay_kind_get_bands (kind, &n);
  for (guint i = 0; i < n; i++)
    if (kind == VN_OVERLAY_ERROR || legend_has_scale (kind)
        || (overlay != NULL && vn_overlay_count_band (overlay, i) > 0))
      shown |= 1u << i;
  return shown;
}

/**
 * vn_legend_set_overlay:
 * @overlay: (nullable): what the canvas shows, of all nodes; counted for the key
 */
void
vn_legend_set_overlay (VnLegend        *self,
                       const VnOverlay *overlay)
{
  VnOverlayKind kind;
  const VnOverlayBand *bands;
  guint n;

  g_return_if_fail (VN_IS_LEGEND (self));

  kind = vn_legend_get_kind (self);
  bands = vn_overlay_kind_get_bands (kind, &n);
  if (legend_has_scale (kind))
    vn_legend_scale_set_overlay (self->scale, kind, overlay);
  legend_make_keys (self, kind, legend_find_shown (kind, overlay));
  for (GtkWidget *key = gtk_widget_get_first_child (self->keys); key != NULL; key = gtk_widget_get_next_sibling (key))
    {
      guint at = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (key), "band"));
      guint count = overlay != NULL ? vn_overlay_count_band (overlay, at) : 0;
      g_autofree char *text = g_strdup_printf ("%u", count);
      g_autofree char *name = g_strdup_printf ("%s: %u", _(bands[at].title), count);

      gtk_label_set_text (GTK_LABEL (g_object_get_data (G_OBJECT (key), "count")), text);
      gtk_widget_set_sensitive (key, count > 0);
      gtk_accessible_update_property (GTK_ACCESSIBLE (key), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    }
}

/**
 * vn_legend_set_note:
 * @note: (nullable): where the figures come from
 */
void
vn_legend_set_note (VnLegend   *self,
                    const char *note)
{
  g_return_if_fail (VN_IS_LEGEND (self));

  gtk_label_set_label (GTK_LABEL (self->note), note != NULL ? note : "");
  gtk_widget_set_visible (self->note, note != NULL);
}

/**
 * vn_legend_set_runs:
 * @titles: (array zero-terminated=1): of the runs that a difference can be to
 * @selected: one of them; more than there are: none
 *
 * No signal.
 */
void
vn_legend_set_runs (VnLegend           *self,
                    const char * const *titles,
                    guint               selected)
{
  g_autoptr(GtkStringList) list = NULL;

  g_return_if_fail (VN_IS_LEGEND (self) && titles != NULL);

  list = gtk_string_list_new (titles);
  self->quiet = TRUE;
  gtk_drop_down_set_model (GTK_DROP_DOWN (self->runs), G_LIST_MODEL (list));
  gtk_drop_down_set_selected (GTK_DROP_DOWN (self->runs), titles[0] != NULL ? selected : GTK_INVALID_LIST_POSITION);
  gtk_widget_set_sensitive (self->runs, titles[0] != NULL);
  self->quiet = FALSE;
}

/**
 * vn_legend_get_run:
 *
 * Returns: number of the run chosen; %GTK_INVALID_LIST_POSITION: none
 */
guint
vn_legend_get_run (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), GTK_INVALID_LIST_POSITION);

  return gtk_drop_down_get_selected (GTK_DROP_DOWN (self->runs));
}

/**
 * vn_legend_set_measured:
 *
 * Shows the scale, or that nothing is measured yet and how to begin.
 */
void
vn_legend_set_measured (VnLegend *self,
                        gboolean  measured)
{
  g_return_if_fail (VN_IS_LEGEND (self));

  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), measured ? "scale" : "empty");
}

/**
 * vn_legend_set_folded:
 *
 * Leaves bar and key only, for a narrow canvas.
 */
void
vn_legend_set_folded (VnLegend *self,
                      gboolean  folded)
{
  g_return_if_fail (VN_IS_LEGEND (self));

  gtk_widget_set_visible (self->header, !folded);
}
