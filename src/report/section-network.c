/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: pictures of where in the network the error is. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-scene-builder.h"

#include <math.h>

#define MOST_TITLES 2000u    /* points that can be told from each other */

/* Of fine and of bad, as a legend says it. */
static void
section_network_dup_limits (VnMetric       metric,
                            VnHeatHandles  handles,
                            char         **limits)
{
  const gboolean higher = vn_metric_is_higher_better (metric);
  g_autofree char *fine = vn_metric_format (metric, vn_heat_from_axis (metric, handles.fine));
  g_autofree char *bad = vn_metric_format (metric, vn_heat_from_axis (metric, handles.bad));

  /* Translators: a limit of an error: “above 20 dB” */
  limits[0] = g_strdup_printf (higher ? _("above %s") : _("below %s"), fine);
  limits[1] = g_strdup_printf (higher ? _("below %s") : _("above %s"), bad);
}

static void
section_network_add_picture (VnReportSection *section,
                             VnRun           *run,
                             VnMetric         metric)
{
  /* of two networks that were only compared nobody knows how one became the other */
  g_autoptr(VnScene) scene = vn_scene_build (run->source, run->recipe != NULL ? run : NULL, VN_PAIRS_FOLDED);
  const VnHeatHandles handles = vn_scene_default_handles (scene, run->source, run, metric);
  g_autoptr(VnOverlay) overlay = vn_scene_build_overlay (scene, run->source, run, metric, handles);
  g_autofree char *text = g_strdup_printf (_("The graph from its inputs to its outputs, in rows. Color: %s."),
                                           _(vn_metric_get_info (metric)->title));

  char *limits[2];

  section_network_dup_limits (metric, handles, limits);
  _vn_report_add_picture (section, NULL, text, vn_picture_new_network (scene, overlay, (const char * const *) limits));
  g_free (limits[0]);
  g_free (limits[1]);
}

/* Which precision a tensor has, by the shape of its point. */
static void
section_network_set_shape (VnPicturePoint     *point,
                           VnQuantPlan        *plan,
                           const char         *value)
{
  const VnTensorPlan *tensor = plan != NULL ? vn_quant_plan_find (plan, value) : NULL;

  point->is_hollow = plan != NULL && (tensor == NULL || !tensor->quantized);
  point->is_square = tensor != NULL && tensor->quantized && vn_dtype_get_bits (tensor->dtype) > 8;
}

/* In the order in which they are computed. */
static void
section_network_add_course (VnReportSection *section,
                            VnRun           *run)
{
  VnErrorTable *errors = run->errors;
  const VnHeatHandles handles = vn_heat_default_handles (VN_METRIC_SQNR);
  const VnMetricInfo *info = vn_metric_get_info (VN_METRIC_SQNR);
  const VnPictureAxes axes = { .x_title = run->plan != NULL ? _("Position in the network; circle: 8-bit, square: "
                                                                  "16-bit, hollow: float") : _("Position in the network"),
                               .y_title = _("dB, higher is better"), .lines = (const double[]) { info->fine, info->bad },
                               .n_lines = 2,
                               .x_hidden = TRUE, .height = 200, .x_first = _("input"), .x_last = _("outputs"),
                               .shades_last = TRUE };
  const guint n = vn_error_table_get_n (errors);
  g_autofree VnPicturePoint *points = g_new0 (VnPicturePoint, n + 1);
  g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func (g_free);
  guint n_points = 0;

  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);
      g_autofree char *db = vn_format_decimals (row->sqnr_db, 2);

      g_ptr_array_add (titles, n <= MOST_TITLES ? g_strdup_printf ("%s, %s dB", row->value, db) : NULL);
      points[n_points] = (VnPicturePoint) { .x = i, .y = row->sqnr_db,
                                            .t = vn_heat_t (vn_heat_axis (VN_METRIC_SQNR, row->sqnr_db), handles),
                                            .is_marked = row->is_output || row->is_last, .title =
                                              g_ptr_array_index (titles, titles->len - 1) };
      section_network_set_shape (&points[n_points++], run->plan, row->value);
    }
  if (n_points > 1)
    _vn_report_add_picture (section, _("SQNR along the network"),
                            _("Each tensor by its position in the network; outputs with a thick outline. Fine above "
                              "the upper dashed line, bad below the lower."),
                            vn_picture_new_points (&axes, points, n_points))->place = VN_REPORT_WIDE;
}

void
_vn_report_build_network (VnReportSection *section,
                          VnRun           *run)
{
  if (run->errors != NULL)
    section_network_add_picture (section, run, vn_error_table_get_weakest_metric (run->errors));
  if (run->errors != NULL)
    section_network_add_course (section, run);
  if (run->recipe == NULL)
    return;
  _vn_report_add_size (section, run);
  _vn_report_add_precision (section, run);
}
