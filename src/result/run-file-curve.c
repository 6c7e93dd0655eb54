/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs as JSON: the curve of mixed precision, each point with the recipe that makes it. */
#include "run-file-private.h"

static void
run_file_add_point (JsonBuilder        *json,
                    const VnCurvePoint *point)
{
  g_autofree char *recipe = vn_recipe_to_json (point->recipe);

  json_builder_begin_object (json);
  vn_json_add_bool (json, "chosen", point->is_chosen);
  vn_json_add_bool (json, "plain", point->is_plain);
  vn_json_add_bool (json, "used", point->used);
  _vn_run_file_add_number (json, "predicted-sqnr", point->predicted_db);
  _vn_run_file_add_number (json, "measured-sqnr", point->measured_db);
  _vn_run_file_add_kept (json, &point->kept);
  vn_json_add_int (json, "bytes", (gint64) point->bytes);
  _vn_run_file_add_number (json, "integer-share", point->integer_share);
  _vn_run_file_add_number (json, "wide-share", point->wide_share);
  _vn_run_file_add_number (json, "time-ratio", point->time_ratio);
  vn_json_add_int (json, "float-tensors", point->n_float);
  vn_json_add_int (json, "wide-tensors", point->n_wide);
  vn_json_add_int (json, "small-weights", point->n_small);
  vn_json_add_text (json, "recipe", recipe);
  json_builder_end_object (json);
}

void
_vn_run_file_add_curve (JsonBuilder *json,
                        VnCurve     *curve)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "cost", vn_curve_cost_get_id (curve->cost));
  vn_json_add_int (json, "samples", curve->n_samples);
  vn_json_begin_array (json, "points");
  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    run_file_add_point (json, vn_curve_get (curve, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static void
run_file_read_point (gpointer      to,
                     VnJsonFields *fields)
{
  g_autoptr(VnCurvePoint) point = vn_curve_point_new ();
  g_autofree char *text = vn_json_fields_dup_text (fields, "recipe"), *where = vn_json_fields_dup_where (fields, "recipe");
  VnJsonFields kept;
  GError *reason = NULL;

  point->is_chosen = vn_json_fields_get_bool (fields, "chosen");
  point->is_plain = vn_json_fields_get_bool (fields, "plain");
  point->used = vn_json_fields_get_bool (fields, "used");
  point->predicted_db = _vn_run_file_get_number (fields, "predicted-sqnr");
  point->measured_db = _vn_run_file_get_number (fields, "measured-sqnr");
  if (vn_json_fields_has (fields, "kept"))
    {
      vn_json_fields_enter (&kept, fields, "kept");
      _vn_run_file_read_kept (&kept, &point->kept);
      vn_json_fields_leave (&kept, fields);
    }
  point->bytes = vn_json_fields_get_count (fields, "bytes", G_MAXINT64);
  point->integer_share = _vn_run_file_get_number (fields, "integer-share");
  point->wide_share = _vn_run_file_get_number (fields, "wide-share");
  point->time_ratio = _vn_run_file_get_number (fields, "time-ratio");
  point->n_float = (guint) vn_json_fields_get_count (fields, "float-tensors", G_MAXUINT);
  point->n_wide = (guint) vn_json_fields_get_count (fields, "wide-tensors", G_MAXUINT);
  point->n_small = (guint) vn_json_fields_get_count (fields, "small-weights", G_MAXUINT);
  point->recipe = text != NULL ? vn_recipe_from_json (text, where, &reason) : NULL;
  if (reason != NULL)
    vn_json_fields_take_error (fields, reason);
  if (point->recipe != NULL)
    vn_curve_add (to, g_steal_pointer (&point));
}

VnCurve *
_vn_run_file_read_curve (VnJsonFields *fields)
{
  g_autofree char *id = vn_json_fields_dup_text (fields, "cost");
  VnCurveCost cost = VN_CURVE_COST_SIZE;
  VnCurve *curve;

  if (id != NULL && !vn_curve_cost_find (id, &cost))
    vn_json_fields_fail (fields, "cost", "“%s” is no cost of a curve", id);
  curve = vn_curve_new (cost);
  curve->n_samples = (guint) vn_json_fields_get_count (fields, "samples", G_MAXUINT);
  _vn_run_file_read_each (fields, "points", run_file_read_point, curve);
  return curve;
}
