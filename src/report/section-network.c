/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: pictures of where in the network the error is. */
#include "vn-report-build.h"

#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-scene-builder.h"

#include <math.h>

#define MOST_TITLES 2000u    /* points that can be told from each other */

/* Of two networks that were only compared nobody knows how one became the other: only errors, by the names in the float network. */
static VnResult *
section_network_make_result (const VnReportInput *input)
{
  VnResult *result = vn_result_new ();

  result->source = vn_model_ref ((VnModel *) input->source);
  result->prepared = vn_model_ref ((VnModel *) input->source);
  result->errors = vn_error_table_ref (input->errors);
  return result;
}

static void
section_network_add_picture (VnReportSection     *section,
                             const VnReportInput *input,
                             VnMetric             metric)
{
  g_autoptr(VnResult) result = input->result != NULL ? vn_result_ref (input->result) : section_network_make_result (input);
  g_autoptr(VnScene) scene = vn_scene_build (input->source, input->result);
  const VnHeatHandles handles = vn_scene_default_handles (scene, input->source, result, metric);
  g_autoptr(VnOverlay) overlay = vn_scene_build_overlay (scene, input->source, result, metric, handles);
  g_autofree char *text = g_strdup_printf (_("The network from its inputs to its outputs, in rows. Colour: %s."), _(vn_metric_get_info (metric)->title));

  _vn_report_add_picture (section, NULL, text, vn_picture_new_network (scene, overlay));
}

/* In the order in which they are computed. */
static void
section_network_add_course (VnReportSection *section,
                            VnErrorTable    *errors)
{
  const VnHeatHandles handles = vn_heat_default_handles (VN_METRIC_SQNR);
  const VnMetricInfo *info = vn_metric_get_info (VN_METRIC_SQNR);
  const VnPictureAxes axes = { _("Position in the network, from its inputs to its outputs"), _("Signal to noise in dB"),
                               (const double[]) { info->fine, info->bad }, 2, FALSE, TRUE };
  const guint n = vn_error_table_get_n (errors);
  g_autofree VnPicturePoint *points = g_new0 (VnPicturePoint, n + 1);
  g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func (g_free);
  guint n_points = 0;

  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);
      g_autofree char *db = vn_metric_format_fixed (VN_METRIC_SQNR, row->sqnr_db);

      g_ptr_array_add (titles, n <= MOST_TITLES ? g_strdup_printf ("%s, %s dB", row->value, db) : NULL);
      points[n_points++] = (VnPicturePoint) { i, row->sqnr_db, vn_heat_t (vn_heat_axis (VN_METRIC_SQNR, row->sqnr_db), handles),
                                              row->is_output || row->is_last, FALSE, g_ptr_array_index (titles, titles->len - 1) };
    }
  if (n_points > 1)
    _vn_report_add_picture (section, _("Signal to noise along the network"),
                            _("Each tensor by its place in the network; outputs with a thick line. Fine above the upper dashed line, bad below the lower."),
                            vn_picture_new_points (&axes, points, n_points));
}

void
_vn_report_build_network (VnReportSection     *section,
                          const VnReportInput *input)
{
  if (input->errors == NULL)
    return;
  if (input->result != NULL || input->recipe == NULL)
    section_network_add_picture (section, input, vn_error_table_get_weakest_metric (input->errors));
  section_network_add_course (section, input->errors);
}
