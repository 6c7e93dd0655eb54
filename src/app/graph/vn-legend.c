/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The legend over the canvas: choice of the metric, the scale with its handles, and the key of colours. */
#include "vn-legend.h"

#include "vn-heat-bar.h"
#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define WIDTH        288
#define SWATCH_WIDTH  22
#define SWATCH_HEIGHT 16

struct _VnLegend
{
  GtkWidget      parent_instance;

  GtkWidget     *stack;
  GtkWidget     *header;
  GtkWidget     *choice;                   /* GtkDropDown */
  GtkWidget     *unit;
  GtkWidget     *bar;
  GtkWidget     *keys;
  GtkWidget     *kernels;                  /* GtkLabel: what is expected of ONNX Runtime */
  GtkWidget     *counts[VN_N_BANDS];
  VnHeatHandles  handles[VN_N_METRICS], defaults[VN_N_METRICS];
  gboolean       quiet;                    /* being set, not chosen */
};

G_DEFINE_FINAL_TYPE (VnLegend, vn_legend, GTK_TYPE_WIDGET)

enum { CHOICE_PRECISION = VN_N_METRICS, CHOICE_NONE, CHOICE_KERNELS };

static const struct { const char *title; double t; guint ticks; } bands[VN_N_BANDS] = {
  [VN_BAND_FINE] = { N_("Fine"), 0.2, 1 },
  [VN_BAND_WATCH] = { N_("Watch"), 0.5, 2 },
  [VN_BAND_BAD] = { N_("Bad"), 0.85, 4 },
};

static guint
legend_chosen (VnLegend *self)
{
  return gtk_drop_down_get_selected (GTK_DROP_DOWN (self->choice));
}

/* "dB, higher is better": unit and direction always in words. */
static void
legend_update_unit (VnLegend *self)
{
  const VnMetricInfo *info;
  g_autofree char *text = NULL;

  if (legend_chosen (self) >= VN_N_METRICS)
    {
      gtk_label_set_text (GTK_LABEL (self->unit), "");
      return;
    }
  info = vn_metric_get_info (legend_chosen (self));
  gtk_widget_set_tooltip_text (self->unit, info->scale == VN_SCALE_SHARE ? _("Share of the error of the outputs that starts at the node") : NULL);
  if (info->scale == VN_SCALE_SHARE)
    {
      gtk_label_set_text (GTK_LABEL (self->unit), _("share, lower is better"));
      return;
    }
  text = g_strdup_printf ("%s%s%s", info->unit != NULL && *info->unit != '\0' ? _(info->unit) : "",
                          info->unit != NULL && *info->unit != '\0' ? ", " : "",
                          vn_metric_is_higher_better (legend_chosen (self)) ? _("higher is better") : _("lower is better"));
  gtk_label_set_text (GTK_LABEL (self->unit), text);
}

static void
legend_show_metric (VnLegend *self)
{
  guint metric = legend_chosen (self);
  gboolean is_metric = metric < VN_N_METRICS;

  gtk_widget_set_visible (self->bar, is_metric);
  gtk_widget_set_visible (self->keys, is_metric);
  gtk_widget_set_visible (self->kernels, metric == CHOICE_KERNELS);
  legend_update_unit (self);
  if (is_metric)
    vn_heat_bar_set_metric (VN_HEAT_BAR (self->bar), metric, self->handles[metric], self->defaults[metric]);
}

static void
legend_choice_changed (VnLegend *self)
{
  legend_show_metric (self);
  if (!self->quiet)
    g_signal_emit_by_name (self, "overlay-changed");
}

static void
legend_handles_changed (VnLegend *self)
{
  self->handles[legend_chosen (self)] = vn_heat_bar_get_handles (VN_HEAT_BAR (self->bar));
  g_signal_emit_by_name (self, "handles-changed");
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

static void
legend_draw_swatch (GtkDrawingArea *area,
                    cairo_t        *cr,
                    int             width,
                    int             height,
                    gpointer        user_data)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  guint band = GPOINTER_TO_UINT (user_data);
  VnColor fill = vn_heat_color (VN_HEAT_ERROR, dark, bands[band].t), text = vn_color_get_text (fill);
  double radius = 4;

  cairo_arc (cr, width - 0.5 - radius, 0.5 + radius, radius, -G_PI_2, 0);
  cairo_arc (cr, width - 0.5 - radius, height - 0.5 - radius, radius, 0, G_PI_2);
  cairo_arc (cr, 0.5 + radius, height - 0.5 - radius, radius, G_PI_2, G_PI);
  cairo_arc (cr, 0.5 + radius, 0.5 + radius, radius, G_PI, 3 * G_PI_2);
  cairo_close_path (cr);
  cairo_set_source_rgb (cr, fill.r, fill.g, fill.b);
  cairo_fill_preserve (cr);
  cairo_set_source_rgba (cr, dark, dark, dark, band == VN_BAND_BAD ? 0.7 : 0.38);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  for (guint i = 0; i < 4; i++)
    {
      cairo_set_source_rgba (cr, text.r, text.g, text.b, i < bands[band].ticks ? 1 : 0.22);
      cairo_rectangle (cr, width / 2. - 7 + 4 * i, height / 2. - 4, 2, 8);
      cairo_fill (cr);
    }
}

static GtkWidget *
legend_make_key (VnLegend *self,
                 guint     band)
{
  GtkWidget *button = gtk_button_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);
  GtkWidget *swatch = gtk_drawing_area_new (), *title = gtk_label_new (_(bands[band].title));

  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (swatch), SWATCH_WIDTH);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (swatch), SWATCH_HEIGHT);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (swatch), legend_draw_swatch, GUINT_TO_POINTER (band), NULL);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (gtk_widget_queue_draw), swatch, G_CONNECT_SWAPPED);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (title, "caption");
  self->counts[band] = gtk_label_new ("0");
  gtk_widget_add_css_class (self->counts[band], "caption");
  gtk_widget_add_css_class (self->counts[band], "numeric");
  gtk_widget_add_css_class (self->counts[band], "dim-label");
  gtk_box_append (GTK_BOX (box), swatch);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), self->counts[band]);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "legend-key");
  gtk_widget_set_tooltip_text (button, _("Select these nodes"));
  g_object_set_data (G_OBJECT (button), "band", GUINT_TO_POINTER (band));
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (legend_key_clicked), self);
  return button;
}

static GtkWidget *
legend_make_choice (VnLegend *self)
{
  GtkStringList *titles = gtk_string_list_new (NULL);
  GtkWidget *choice;

  for (guint i = 0; i < VN_N_METRICS; i++)
    gtk_string_list_append (titles, _(vn_metric_get_info (i)->title));
  gtk_string_list_append (titles, _("Precision"));
  gtk_string_list_append (titles, _("No colors"));
  gtk_string_list_append (titles, _("ONNX Runtime kernels"));
  choice = gtk_drop_down_new (G_LIST_MODEL (titles), NULL);
  gtk_widget_add_css_class (choice, "flat");
  gtk_widget_add_css_class (choice, "legend-choice");
  gtk_widget_set_tooltip_text (choice, _("What the colors show"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (choice), GTK_ACCESSIBLE_PROPERTY_LABEL, _("What the colors show"), -1);
  g_signal_connect_swapped (choice, "notify::selected", G_CALLBACK (legend_choice_changed), self);
  return choice;
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
  gtk_box_append (GTK_BOX (box), self->bar);
  self->keys = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_box_set_homogeneous (GTK_BOX (self->keys), TRUE);
  for (guint i = 0; i < VN_N_BANDS; i++)
    gtk_box_append (GTK_BOX (self->keys), legend_make_key (self, i));
  gtk_box_append (GTK_BOX (box), self->keys);
  self->kernels = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->kernels), 0);
  gtk_label_set_wrap (GTK_LABEL (self->kernels), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (self->kernels), 44);
  gtk_widget_set_margin_start (self->kernels, 6);
  gtk_widget_add_css_class (self->kernels, "caption");
  gtk_box_append (GTK_BOX (box), self->kernels);
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

  for (guint i = 0; i < VN_N_METRICS; i++)
    self->handles[i] = self->defaults[i] = vn_heat_default_handles (i);
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
  legend_show_metric (self);
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
 * vn_legend_get_kind:
 *
 * Returns: what the user wants to see: error, precision kernels or no colours
 */
VnOverlayKind
vn_legend_get_kind (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), VN_OVERLAY_NONE);

  if (legend_chosen (self) < VN_N_METRICS)
    return VN_OVERLAY_ERROR;
  if (legend_chosen (self) == CHOICE_KERNELS)
    return VN_OVERLAY_KERNELS;
  return legend_chosen (self) == CHOICE_PRECISION ? VN_OVERLAY_PRECISION : VN_OVERLAY_NONE;
}

/**
 * vn_legend_get_metric:
 *
 * Returns: the metric chosen; SQNR while none is
 */
VnMetric
vn_legend_get_metric (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), VN_METRIC_SQNR);

  return legend_chosen (self) < VN_N_METRICS ? legend_chosen (self) : VN_METRIC_SQNR;
}

/**
 * vn_legend_set_metric:
 *
 * Chooses a metric; no signal.
 */
void
vn_legend_set_metric (VnLegend *self,
                      VnMetric  metric)
{
  g_return_if_fail (VN_IS_LEGEND (self));

  self->quiet = TRUE;
  gtk_drop_down_set_selected (GTK_DROP_DOWN (self->choice), metric);
  self->quiet = FALSE;
}

/**
 * vn_legend_get_handles:
 *
 * Returns: where the handles of the metric stand
 */
VnHeatHandles
vn_legend_get_handles (VnLegend *self)
{
  g_return_val_if_fail (VN_IS_LEGEND (self), ((VnHeatHandles) { 0 }));

  return self->handles[vn_legend_get_metric (self)];
}

/**
 * vn_legend_set_defaults:
 * @defaults: where the handles of @metric stand for this network before anybody moves them
 *
 * Puts the handles of a metric there, and back there on a double click; handles that were moved stay while the defaults are the
 * same. No signal.
 */
void
vn_legend_set_defaults (VnLegend      *self,
                        VnMetric       metric,
                        VnHeatHandles  defaults)
{
  g_return_if_fail (VN_IS_LEGEND (self));
  g_return_if_fail (metric < VN_N_METRICS);

  if (self->defaults[metric].fine == defaults.fine && self->defaults[metric].bad == defaults.bad)
    return;
  self->defaults[metric] = self->handles[metric] = defaults;
  legend_show_metric (self);
}

/**
 * vn_legend_set_overlay:
 * @overlay: (nullable): what the canvas shows; counted for the key
 */
void
vn_legend_set_overlay (VnLegend        *self,
                       const VnOverlay *overlay)
{
  guint counts[VN_N_BANDS] = { 0 };

  g_return_if_fail (VN_IS_LEGEND (self));

  if (overlay != NULL)
    vn_overlay_count (overlay, &counts[VN_BAND_FINE], &counts[VN_BAND_WATCH], &counts[VN_BAND_BAD]);
  for (guint i = 0; i < VN_N_BANDS; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", counts[i]);
      g_autofree char *name = g_strdup_printf ("%s: %u", _(bands[i].title), counts[i]);
      GtkWidget *key = gtk_widget_get_ancestor (self->counts[i], GTK_TYPE_BUTTON);

      gtk_label_set_text (GTK_LABEL (self->counts[i]), text);
      gtk_widget_set_sensitive (key, counts[i] > 0);
      gtk_accessible_update_property (GTK_ACCESSIBLE (key), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    }
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

/* Where the words of the first line come from holds for what the nodes show. */
static char *
legend_dup_source (const VnRuntimeFigures *figures,
                   const VnVerification   *verification)
{
  if (figures->share_measured)
    return g_strdup_printf (_("Read from ONNX Runtime %s; blue nodes are computed in float"), verification->version);
  return g_strdup (_("Expected; blue nodes are computed in float"));
}

/**
 * vn_legend_set_runtime:
 * @forecast: (nullable): of the export in ONNX Runtime
 * @verification: (nullable): the same, measured
 *
 * Tells how much of the network is computed on integers, and how long that takes beside float, as measured or as expected.
 */
void
vn_legend_set_runtime (VnLegend                *self,
                       const VnRuntimeForecast *forecast,
                       const VnVerification    *verification)
{
  g_autoptr(GPtrArray) lines = NULL;
  g_autofree char *text = NULL;
  VnRuntimeFigures figures;

  g_return_if_fail (VN_IS_LEGEND (self));

  if (forecast == NULL)
    {
      gtk_label_set_label (GTK_LABEL (self->kernels), _("Nothing is known about this export in ONNX Runtime"));
      return;
    }
  vn_runtime_figures_init (&figures, forecast, verification);
  lines = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (lines, legend_dup_source (&figures, verification));
  if (!isnan (figures.integer_share))
    g_ptr_array_add (lines, g_strdup_printf (_("%.1f\u00a0%% of the multiplications on integers"), 100 * figures.integer_share));
  if (!isnan (figures.ratio))
    g_ptr_array_add (lines, g_strdup_printf (figures.time_measured ? _("%.2f times the time of the float network, measured")
                                                                   : _("%.2f times the time of the float network"), figures.ratio));
  g_ptr_array_add (lines, NULL);
  text = g_strjoinv ("\n", (char **) lines->pdata);
  gtk_label_set_label (GTK_LABEL (self->kernels), text);
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
