/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors and contributions in the file of a run, read; run-file-write.c writes them. */
#include "run-file-private.h"

#include "vn-i18n.h"

#include <math.h>

/* ---- errors ---- */

/*< private >
 * _vn_run_file_read_part:
 *
 * Returns: (transfer full): the part of a tensor in the object; what is wrong is an error of @fields
 */
VnErrorPart *
_vn_run_file_read_part (VnJsonFields *fields)
{
  VnErrorPart *part = g_new0 (VnErrorPart, 1);

  part->axis = (guint) vn_json_fields_get_count (fields, "axis", VN_MAX_RANK - 1);
  part->slices = vn_json_fields_dup_text (fields, "slices");
  part->n = vn_json_fields_get_count (fields, "elements", G_MAXINT64);
  part->size = vn_json_fields_get_double (fields, "size");
  part->sqnr_db = vn_json_fields_get_double (fields, "sqnr");
  part->noise_to_signal = vn_json_fields_get_double (fields, "noise");
  part->cosine = vn_json_fields_get_double (fields, "cosine");
  if (vn_json_fields_has (fields, "not-finite"))
    part->n_bad = vn_json_fields_get_count (fields, "not-finite", G_MAXINT64);
  part->is_dead = vn_json_fields_has (fields, "dead") && vn_json_fields_get_bool (fields, "dead");
  return part;
}

static void
run_file_read_parts (VnJsonFields *parent,
                     VnErrorRow   *row)
{
  JsonArray *array = vn_json_fields_get_array (parent, "parts");
  g_autofree char *where = vn_json_fields_dup_where (parent, "parts");

  row->whole_db = vn_json_fields_get_double (parent, "whole-sqnr");
  for (guint i = 0; array != NULL && parent->error == NULL && i < MIN (json_array_get_length (array), VN_MOST_PARTS); i++)
    {
      g_autofree char *place = g_strdup_printf ("%s[%u]", where, i);
      VnJsonFields fields;
      VnErrorPart *part;

      vn_json_fields_init (&fields, json_array_get_element (array, i), place);
      part = _vn_run_file_read_part (&fields);
      vn_json_fields_leave (&fields, parent);
      if (parent->error == NULL)
        vn_error_row_take_part (row, part);
      else
        vn_error_part_free (part);
    }
}

static VnErrorRow *
run_file_read_row (VnJsonFields *fields)
{
  VnErrorRow *row = vn_error_row_new ();

  row->value = vn_json_fields_dup_text (fields, "tensor");
  row->node = vn_json_fields_dup_text (fields, "node");
  row->op_type = vn_json_fields_dup_text (fields, "type");
  row->is_output = vn_json_fields_has (fields, "output") && vn_json_fields_get_bool (fields, "output");
  row->is_last = vn_json_fields_has (fields, "last-computed") && vn_json_fields_get_bool (fields, "last-computed");
  row->n = vn_json_fields_get_count (fields, "elements", G_MAXINT64);
  for (guint k = 0; k < VN_N_METRICS; k++)
    {
      const VnMetricInfo *info = vn_metric_get_info (k);

      G_STRUCT_MEMBER (double, row, info->offset) = vn_json_fields_has (fields, info->id)
                                                      ? vn_json_fields_get_double (fields, info->id) : NAN;
    }
  row->has_local = vn_json_fields_has (fields, "local-sqnr");
  row->local_db = row->has_local ? vn_json_fields_get_double (fields, "local-sqnr") : 0;
  row->float_min = vn_json_fields_get_double (fields, "float-min");
  row->float_max = vn_json_fields_get_double (fields, "float-max");
  row->quant_min = vn_json_fields_get_double (fields, "quantized-min");
  row->quant_max = vn_json_fields_get_double (fields, "quantized-max");
  if (vn_json_fields_has (fields, "not-finite"))
    row->n_bad = vn_json_fields_get_count (fields, "not-finite", G_MAXINT64);
  if (vn_json_fields_has (fields, "not-finite-before"))
    row->n_bad_float = vn_json_fields_get_count (fields, "not-finite-before", G_MAXINT64);
  if (vn_json_fields_has (fields, "sqnr-margin"))
    row->margin_db = vn_json_fields_get_double (fields, "sqnr-margin");
  row->held_out_db = vn_json_fields_has (fields, "held-out-sqnr")
                     ? vn_json_fields_get_double (fields, "held-out-sqnr") : row->sqnr_db;
  if (vn_json_fields_has (fields, "preparation-sqnr"))
    row->preparation_db = vn_json_fields_get_double (fields, "preparation-sqnr");
  row->whole_db = row->sqnr_db;
  if (vn_json_fields_has (fields, "parts"))
    run_file_read_parts (fields, row);
  if (fields->error == NULL)
    return row;
  vn_error_row_free (row);
  return NULL;
}

static void
run_file_read_tensor (gpointer      table,
                      VnJsonFields *fields)
{
  VnErrorRow *row = run_file_read_row (fields);

  if (row != NULL)
    vn_error_table_add (table, row);
}

static void
run_file_read_weight (gpointer      table,
                      VnJsonFields *fields)
{
  VnErrorRow *row = run_file_read_row (fields);

  if (row != NULL)
    vn_error_table_add_weight (table, row);
}

/*< private >
 * _vn_run_file_read_errors:
 *
 * Returns: (transfer full): the table in the object; what is wrong is an error of @fields
 */
VnErrorTable *
_vn_run_file_read_errors (VnJsonFields *fields)
{
  VnErrorTable *table = vn_error_table_new ((guint) vn_json_fields_get_count (fields, "samples", G_MAXUINT));

  _vn_run_file_read_each (fields, "tensors", run_file_read_tensor, table);
  _vn_run_file_read_each (fields, "weights", run_file_read_weight, table);
  return table;
}

/* ---- contributions ---- */

/*< private >
 * _vn_run_file_read_contribution:
 * @contributions: gets the one in the object
 */
void
_vn_run_file_read_contribution (gpointer      contributions,
                                VnJsonFields *fields)
{
  g_autofree char *role = vn_json_fields_dup_text (fields, "role");
  VnContribution item = { .name = vn_json_fields_dup_text (fields, "tensor"), .node = vn_json_fields_dup_text (fields, "node"),
                          .value = vn_json_fields_dup_text_if (fields, "value") };

  if (role != NULL && !vn_contribution_role_find (role, &item.role))
    vn_json_fields_fail (fields, "role", _("is “%s”; choose one of: %s"), role, "activation, weight, bias");
  item.n_samples = (guint) vn_json_fields_get_count (fields, "samples", G_MAXUINT);
  item.share = vn_json_fields_get_double (fields, "share");
  item.share_error = _vn_run_file_get_number (fields, "share-error");
  item.alone_db = vn_json_fields_get_double (fields, "alone-sqnr");
  item.local_db = vn_json_fields_get_double (fields, "local-sqnr");
  vn_contributions_add (contributions, &item);
}
