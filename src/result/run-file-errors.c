/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs as JSON: errors, contributions, and what was measured in ONNX Runtime. */
#include "run-file-private.h"
#include "vn-verified-json.h"

#include "vn-i18n.h"

#include <math.h>

/* ---- errors ---- */

static void
run_file_add_part (JsonBuilder       *json,
                   const VnErrorPart *part)
{
  vn_json_add_int (json, "axis", part->axis);
  vn_json_add_text (json, "slices", part->slices);
  vn_json_add_int (json, "elements", (gint64) part->n);
  vn_json_add_number (json, "size", part->size);
  vn_json_add_number (json, "sqnr", part->sqnr_db);
  vn_json_add_number (json, "noise", part->noise_to_signal);
  vn_json_add_number (json, "cosine", part->cosine);
  if (part->n_bad > 0)
    vn_json_add_int (json, "not-finite", (gint64) part->n_bad);
  _vn_run_file_add_flag (json, "dead", part->is_dead);
}

static void
run_file_add_parts (JsonBuilder     *json,
                    const GPtrArray *parts)
{
  vn_json_begin_array (json, "parts");
  for (guint i = 0; i < parts->len; i++)
    {
      json_builder_begin_object (json);
      run_file_add_part (json, g_ptr_array_index (parts, i));
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
run_file_add_row (JsonBuilder      *json,
                  const VnErrorRow *row)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "tensor", row->value);
  vn_json_add_text (json, "node", row->node);
  vn_json_add_text (json, "type", row->op_type);
  _vn_run_file_add_flag (json, "output", row->is_output);
  _vn_run_file_add_flag (json, "last-computed", row->is_last);
  vn_json_add_int (json, "elements", (gint64) row->n);
  for (guint k = 0; k < VN_N_METRICS; k++)
    if (vn_metric_is_measured (row, k))
      vn_json_add_number (json, vn_metric_get_info (k)->id, vn_metric_get (row, k));
  if (row->has_local)
    vn_json_add_number (json, "local-sqnr", row->local_db);
  vn_json_add_number (json, "float-min", row->float_min);
  vn_json_add_number (json, "float-max", row->float_max);
  vn_json_add_number (json, "quantized-min", row->quant_min);
  vn_json_add_number (json, "quantized-max", row->quant_max);
  if (row->n_bad > 0)
    vn_json_add_int (json, "not-finite", (gint64) row->n_bad);
  if (row->n_bad_float > 0)
    vn_json_add_int (json, "not-finite-before", (gint64) row->n_bad_float);
  _vn_run_file_add_number (json, "sqnr-margin", row->margin_db);
  if (!isnan (row->held_out_db) && row->held_out_db != row->sqnr_db)
    vn_json_add_number (json, "held-out-sqnr", row->held_out_db);
  _vn_run_file_add_number (json, "preparation-sqnr", row->preparation_db);
  if (row->parts != NULL)
    {
      vn_json_add_number (json, "whole-sqnr", row->whole_db);
      run_file_add_parts (json, row->parts);
    }
  json_builder_end_object (json);
}

static VnErrorPart *
run_file_read_part (VnJsonFields *fields)
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
  part->is_dead = _vn_run_file_get_flag (fields, "dead");
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
      part = run_file_read_part (&fields);
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
  row->is_output = _vn_run_file_get_flag (fields, "output");
  row->is_last = _vn_run_file_get_flag (fields, "last-computed");
  row->n = vn_json_fields_get_count (fields, "elements", G_MAXINT64);
  for (guint k = 0; k < VN_N_METRICS; k++)
    {
      const VnMetricInfo *info = vn_metric_get_info (k);

      G_STRUCT_MEMBER (double, row, info->offset) = _vn_run_file_get_number (fields, info->id);
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

/* ---- bodies ---- */

static void
run_file_add_body (JsonBuilder        *json,
                   const VnBodyErrors *body)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "body", body->scope);
  vn_json_add_int (json, "float-runs", (gint64) body->n_float);
  vn_json_add_int (json, "quantized-runs", (gint64) body->n_quant);
  vn_json_add_int (json, "both-runs", (gint64) body->n_both);
  vn_json_add_int (json, "compared-runs", (gint64) body->n_compared);
  vn_json_begin_array (json, "tensors");
  for (guint i = 0; i < vn_error_table_get_n (body->errors); i++)
    run_file_add_row (json, vn_error_table_get (body->errors, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static void
run_file_add_bodies (JsonBuilder  *json,
                     VnErrorTable *errors)
{
  if (vn_error_table_get_n_bodies (errors) == 0)
    return;
  vn_json_begin_array (json, "bodies");
  for (guint i = 0; i < vn_error_table_get_n_bodies (errors); i++)
    run_file_add_body (json, vn_error_table_get_body (errors, i));
  json_builder_end_array (json);
}

static void
run_file_read_body (gpointer      table,
                    VnJsonFields *fields)
{
  g_autofree char *scope = vn_json_fields_dup_text (fields, "body");
  g_autoptr(VnBodyErrors) body = vn_body_errors_new (scope != NULL ? scope : "", vn_error_table_get_n_samples (table));

  body->n_float = vn_json_fields_get_count (fields, "float-runs", G_MAXINT64);
  body->n_quant = vn_json_fields_get_count (fields, "quantized-runs", G_MAXINT64);
  body->n_both = vn_json_fields_get_count (fields, "both-runs", G_MAXINT64);
  body->n_compared = vn_json_fields_get_count (fields, "compared-runs", G_MAXINT64);
  _vn_run_file_read_each (fields, "tensors", run_file_read_tensor, body->errors);
  if (fields->error == NULL)
    vn_error_table_take_body (table, g_steal_pointer (&body));
}

void
_vn_run_file_add_errors (JsonBuilder  *json,
                         VnErrorTable *errors)
{
  json_builder_begin_object (json);
  vn_json_add_int (json, "samples", vn_error_table_get_n_samples (errors));
  vn_json_begin_array (json, "tensors");
  for (guint i = 0; i < vn_error_table_get_n (errors); i++)
    run_file_add_row (json, vn_error_table_get (errors, i));
  json_builder_end_array (json);
  vn_json_begin_array (json, "weights");
  for (guint i = 0; i < vn_error_table_get_n_weights (errors); i++)
    run_file_add_row (json, vn_error_table_get_weight (errors, i));
  json_builder_end_array (json);
  run_file_add_bodies (json, errors);
  json_builder_end_object (json);
}

VnErrorTable *
_vn_run_file_read_errors (VnJsonFields *fields)
{
  VnErrorTable *table = vn_error_table_new ((guint) vn_json_fields_get_count (fields, "samples", G_MAXUINT));

  _vn_run_file_read_each (fields, "tensors", run_file_read_tensor, table);
  _vn_run_file_read_each (fields, "weights", run_file_read_weight, table);
  if (vn_json_fields_has (fields, "bodies"))
    _vn_run_file_read_each (fields, "bodies", run_file_read_body, table);
  return table;
}

/* ---- contributions ---- */

void
_vn_run_file_add_contributions (JsonBuilder     *json,
                                VnContributions *contributions)
{
  json_builder_begin_array (json);
  for (guint i = 0; i < vn_contributions_get_n (contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "tensor", item->name);
      vn_json_add_text (json, "node", item->node);
      vn_json_add_text_if (json, "value", item->value);
      vn_json_add_text (json, "role", vn_contribution_role_get_id (item->role));
      vn_json_add_int (json, "samples", item->n_samples);
      vn_json_add_number (json, "share", item->share);
      _vn_run_file_add_number (json, "share-error", item->share_error);
      vn_json_add_number (json, "alone-sqnr", item->alone_db);
      vn_json_add_number (json, "local-sqnr", item->local_db);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
run_file_read_contribution (gpointer      to,
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
  vn_contributions_add (to, &item);
}

VnContributions *
_vn_run_file_read_contributions (VnJsonFields *parent,
                                 const char   *id)
{
  VnContributions *contributions = vn_contributions_new_empty ();

  _vn_run_file_read_each (parent, id, run_file_read_contribution, contributions);
  return contributions;
}

/* ---- runtimes ---- */

static void
run_file_add_verified_output (JsonBuilder            *json,
                              const VnVerifiedOutput *output)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "name", output->name);
  if (output->part != NULL)
    {
      vn_json_begin_object (json, "part");
      run_file_add_part (json, output->part);
      json_builder_end_object (json);
    }
  vn_json_add_number (json, "sqnr", output->sqnr_db);
  vn_json_add_number (json, "largest-difference", output->largest);
  _vn_run_file_add_number (json, "runtime-sqnr", output->their_db);
  _vn_run_file_add_number (json, "own-sqnr", output->our_db);
  json_builder_end_object (json);
}

/**
 * vn_verified_nodes_to_json:
 * @nodes: (element-type VnVerifiedNode):
 * @member: of the object that @json is in
 *
 * Adds a list of all of them; how many multiplications one has only where that is known.
 */
void
vn_verified_nodes_to_json (const GPtrArray *nodes,
                           const char      *member,
                           JsonBuilder     *json)
{
  g_return_if_fail (nodes != NULL && member != NULL && json != NULL);

  vn_json_begin_array (json, member);
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnVerifiedNode *node = g_ptr_array_index (nodes, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "name", node->name);
      vn_json_add_text (json, "operator", node->op_type);
      vn_json_add_text_if (json, "type", node->type);
      vn_json_add_text_if (json, "kernel", node->kernel);
      vn_json_add_text_if (json, "reason", node->reason);
      if (node->macs > 0)
        vn_json_add_number (json, "macs", node->macs);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* What runtimes tell of nodes. */
static void
run_file_add_parts_there (JsonBuilder          *json,
                          const VnVerification *self)
{
  if (self->n_products > 0)
    {
      vn_json_add_int (json, "products", self->n_products);
      vn_json_add_int (json, "integer-products", self->n_integer_products);
    }
  if (self->n_partitions > 0)
    vn_json_add_int (json, "partitions", self->n_partitions);
  if (self->floats->len > 0)
    vn_verified_nodes_to_json (self->floats, "float-nodes", json);
  if (self->fallen->len > 0)
    vn_verified_nodes_to_json (self->fallen, "refused-nodes", json);
}

void
_vn_run_file_add_verification (JsonBuilder    *json,
                               VnVerification *self)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "runtime", self->runtime->id);
  vn_json_add_text_if (json, "version", self->version);
  vn_json_add_text_if (json, "refusal", self->refusal);
  vn_json_add_int (json, "samples", self->n_samples);
  vn_json_add_number (json, "load-seconds", self->load_seconds);
  vn_json_add_number (json, "seconds", self->seconds);
  vn_json_add_number (json, "float-seconds", self->float_seconds);
  _vn_run_file_add_number (json, "integer-share", self->integer_share);
  if (self->saturates)
    {
      vn_json_add_bool (json, "saturates", TRUE);
      vn_json_add_bool (json, "exact-agrees", self->exact_agrees);
      _vn_run_file_add_number (json, "exact-sqnr", self->exact_db);
    }
  vn_json_begin_array (json, "outputs");
  for (guint i = 0; i < self->outputs->len; i++)
    run_file_add_verified_output (json, g_ptr_array_index (self->outputs, i));
  json_builder_end_array (json);
  run_file_add_parts_there (json, self);
  json_builder_end_object (json);
}

/* Files of older programs do not say which part figures are of. */
static VnErrorPart *
run_file_read_part_if (VnJsonFields *parent)
{
  g_autoptr(VnErrorPart) part = NULL;
  VnJsonFields fields;

  if (!vn_json_fields_has (parent, "part"))
    return NULL;
  vn_json_fields_enter (&fields, parent, "part");
  part = run_file_read_part (&fields);
  vn_json_fields_leave (&fields, parent);
  return parent->error == NULL ? g_steal_pointer (&part) : NULL;
}

static void
run_file_read_verified_output (gpointer      to,
                               VnJsonFields *fields)
{
  g_autofree char *name = vn_json_fields_dup_text (fields, "name");
  g_autoptr(VnErrorPart) part = run_file_read_part_if (fields);
  const char *theirs = vn_json_fields_has (fields, VN_RUN_FILE_OLD_RUNTIME "-sqnr") ? VN_RUN_FILE_OLD_RUNTIME "-sqnr"
                                                                                    : "runtime-sqnr";
  const VnVerifiedOutput output = { .name = name, .part = part, .sqnr_db = vn_json_fields_get_double (fields, "sqnr"),
                                    .largest = vn_json_fields_get_double (fields, "largest-difference"),
                                    .their_db = _vn_run_file_get_number (fields, theirs),
                                    .our_db = _vn_run_file_get_number (fields, "own-sqnr") };

  vn_verification_add (to, &output);
}

static void
run_file_read_verified_node (gpointer      to,
                             VnJsonFields *fields)
{
  g_autofree char *name = vn_json_fields_dup_text (fields, "name"), *op_type = vn_json_fields_dup_text (fields, "operator");
  g_autofree char *type = vn_json_fields_dup_text_if (fields, "type"), *kernel = vn_json_fields_dup_text_if (fields, "kernel");
  g_autofree char *reason = vn_json_fields_dup_text_if (fields, "reason");
  const VnVerifiedNode node = { name, op_type, type, kernel, reason,
                                vn_json_fields_has (fields, "macs") ? vn_json_fields_get_double (fields, "macs") : 0 };

  vn_verification_add_node (to, &node);
}

static guint
run_file_read_count_if (VnJsonFields *fields,
                        const char   *id)
{
  return vn_json_fields_has (fields, id) ? (guint) vn_json_fields_get_count (fields, id, G_MAXUINT) : 0;
}

static void
run_file_read_parts_there (VnJsonFields   *fields,
                           VnVerification *found)
{
  found->n_products = run_file_read_count_if (fields, "products");
  found->n_integer_products = run_file_read_count_if (fields, "integer-products");
  found->n_partitions = run_file_read_count_if (fields, "partitions");
  if (vn_json_fields_has (fields, "float-nodes"))
    _vn_run_file_read_each (fields, "float-nodes", run_file_read_verified_node, found->floats);
  if (vn_json_fields_has (fields, "refused-nodes"))
    _vn_run_file_read_each (fields, "refused-nodes", run_file_read_verified_node, found->fallen);
}

/* Files of older programs name none: there was one. */
static const VnTargetRuntime *
run_file_read_runtime (VnJsonFields *fields)
{
  g_autofree char *id = vn_json_fields_dup_text_if (fields, "runtime");
  const VnTargetRuntime *runtime = id != NULL ? vn_target_runtime_find (id, NULL) : NULL;

  if (id != NULL && runtime == NULL)
    vn_json_fields_fail (fields, "runtime", _("unknown runtime “%s”"), id);
  return runtime != NULL ? runtime : vn_target_runtime_get_default ();
}

VnVerification *
_vn_run_file_read_verification (VnJsonFields *fields)
{
  VnVerification *found = vn_verification_new ();

  found->runtime = run_file_read_runtime (fields);
  found->version = vn_json_fields_dup_text_if (fields, "version");
  found->refusal = vn_json_fields_dup_text_if (fields, "refusal");
  found->n_samples = (guint) vn_json_fields_get_count (fields, "samples", G_MAXUINT);
  found->load_seconds = vn_json_fields_get_double (fields, "load-seconds");
  found->seconds = vn_json_fields_get_double (fields, "seconds");
  found->float_seconds = vn_json_fields_get_double (fields, "float-seconds");
  found->integer_share = _vn_run_file_get_number (fields, "integer-share");
  found->saturates = _vn_run_file_get_flag (fields, "saturates");
  found->exact_agrees = _vn_run_file_get_flag (fields, "exact-agrees");
  found->exact_db = _vn_run_file_get_number (fields, "exact-sqnr");
  _vn_run_file_read_each (fields, "outputs", run_file_read_verified_output, found);
  run_file_read_parts_there (fields, found);
  return found;
}
