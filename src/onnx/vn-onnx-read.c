/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a model: recognises the kind of file, decodes the head, and explains failures. */
#include "vn-onnx-private.h"
#include "vn-onnx-parse.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-message.h"

#include <string.h>

/* Newest IR version whose fields are known here; newer files are read, with a note. */
#define NEWEST_IR 14

static void
onnx_read_opset_clear (gpointer data)
{
  g_free (((VnOpset *) data)->domain);
}

/* ---- what kind of file is it ---- */

/* Every writer begins with the IR version, or at least with another small field of the model. */
static gboolean
onnx_read_begins_like (const guint8 *data,
                       gsize         size)
{
  VnWireIn in = vn_wire_in (data, MIN (size, 16));
  VnWireField field;
  VnWireStatus status = vn_wire_next (&in, &field);

  return status == VN_WIRE_FIELD && field.number == F_MODEL_IR_VERSION && field.type == VN_WIRE_VARINT &&
         field.value > 0 && field.value < 1000;
}

static const char *
onnx_read_shown_path (const char *path)
{
  return path != NULL ? path : _("(model in memory)");
}

/* What the file is instead, if it is one of another tool. */
static gboolean
onnx_read_tell_foreign (GBytes      *bytes,
                        const char  *path,
                        GError     **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  const char *what = vn_onnx_recognise (data, size, path);

  if (what == NULL)
    return FALSE;
  g_clear_error (error);
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not an ONNX file: it is %s"), onnx_read_shown_path (path), what);
  return TRUE;
}

/* The stripper has said what is wrong with the bytes; what does that mean for the user? */
static void
onnx_read_explain_failure (GBytes      *bytes,
                           const char  *path,
                           GError     **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (g_error_matches (*error, VN_ERROR, VN_ERROR_LIMIT) || vn_error_is_memory (*error))
    g_prefix_error (error, "“%s”: ", onnx_read_shown_path (path));
  else if (onnx_read_tell_foreign (bytes, path, error))
    return;
  else if (onnx_read_begins_like (data, size))
    g_prefix_error (error, ngettext ("“%s” is damaged or truncated (%zu byte): ",
                                     "“%s” is damaged or truncated (%zu bytes): ", size), onnx_read_shown_path (path), size);
  else
    g_prefix_error (error, _("“%s” is not an ONNX file: "), onnx_read_shown_path (path));
}

/* ---- the model ---- */

static void
onnx_read_decode_head (VnModel       *model,
                       const PbModel *proto)
{
  model->ir_version = proto->ir_version;
  model->producer_name = vn_onnx_dup_text (proto->producer_name);
  model->producer_version = vn_onnx_dup_text (proto->producer_version);
  model->domain = vn_onnx_dup_text (proto->domain);
  model->doc = vn_onnx_dup_text (proto->doc_string);
  model->has_model_version = proto->has_model_version;
  model->model_version = proto->model_version;
  for (gsize i = 0; i < proto->n_opset_import; i++)
    vn_onnx_opset_decode (model->opsets, proto->opset_import[i]);
  for (gsize i = 0; i < proto->n_metadata_props; i++)
    {
      const PbEntry *entry = proto->metadata_props[i];

      g_ptr_array_add (model->metadata, vn_onnx_dup_text (entry->key != NULL ? entry->key : ""));
      g_ptr_array_add (model->metadata, vn_onnx_dup_text (entry->value != NULL ? entry->value : ""));
    }
}

static void
onnx_read_note_versions (VnModel *model)
{
  if (model->ir_version > NEWEST_IR)
    vn_notes_add (model->notes, VN_NOTE_WARNING, "ir-version-new", NULL,
                  _("The file has IR version %lld; this program supports versions up to %d"),
                  (long long) model->ir_version, NEWEST_IR);
  else if (model->ir_version < 3)
    vn_notes_add (model->notes, VN_NOTE_WARNING, "ir-version-old", NULL,
                  _("The file has IR version %lld, older than the first stable one (3)"),
                  (long long) model->ir_version);
  if (vn_model_get_opset (model, "") == 0)
    vn_notes_add (model->notes, VN_NOTE_WARNING, "no-opset", NULL,
                  _("The file does not import an opset of the standard operators"));
  for (guint i = 1; i < model->opsets->len; i++)
    for (guint j = 0; j < i; j++)
      if (g_str_equal (g_array_index (model->opsets, VnOpset, i).domain, g_array_index (model->opsets, VnOpset, j).domain))
        vn_notes_add (model->notes, VN_NOTE_INFO, "opset-twice", g_array_index (model->opsets, VnOpset, i).domain,
                      _("The domain “%s” is imported twice; the higher version is used"),
                      g_array_index (model->opsets, VnOpset, i).domain);
}

static VnFunction *
onnx_read_add_function (VnModel *model)
{
  VnFunction *function = g_new0 (VnFunction, 1);

  function->body = vn_graph_new (model, NULL, NULL);
  function->attr_names = g_ptr_array_new_with_free_func (g_free);
  function->attr_defaults = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_attr_free);
  function->opsets = g_array_new (FALSE, TRUE, sizeof (VnOpset));
  g_array_set_clear_func (function->opsets, onnx_read_opset_clear);
  g_ptr_array_add (model->functions, function);
  return function;
}

static gboolean
onnx_read_decode_model (VnOnnxReader   *self,
                        const PbModel  *proto,
                        GError        **error)
{
  g_autoptr(VnWireOut) extra = vn_wire_out_new ();

  onnx_read_decode_head (self->model, proto);
  if (!vn_onnx_graph_decode (self, self->model->graph, proto->graph, error))
    return FALSE;
  for (gsize i = 0; i < proto->n_functions; i++)
    if (!vn_onnx_function_decode (self, onnx_read_add_function (self->model), proto->functions[i], error))
      return FALSE;
  vn_onnx_extra_unknown (extra, &proto->base, 0);
  self->model->extra = vn_onnx_extra_finish (extra);
  onnx_read_note_versions (self->model);
  return TRUE;
}

static gpointer
onnx_read_fail_unpack (const VnOnnxReader  *self,
                       GError             **error)
{
  if (self->allocator.refused)
    {
      vn_memory_set_error (0, error);
      g_prefix_error (error, "“%s”: ", onnx_read_shown_path (self->path));
      return NULL;
    }
  if (!onnx_read_tell_foreign (self->bytes, self->path, error))
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not an ONNX file: a field has the wrong type"),
                 onnx_read_shown_path (self->path));
  return NULL;
}

static VnModel *
onnx_read_build_model (VnOnnxReader   *self,
                       const PbModel  *proto,
                       GError        **error)
{
  g_autoptr(VnModel) model = vn_model_new (0, 0);

  if (proto->graph == NULL)
    {
      if (!onnx_read_tell_foreign (self->bytes, self->path, error))
        g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not an ONNX file: it has no graph"),
                     onnx_read_shown_path (self->path));
      return NULL;
    }
  model->path = g_strdup (self->path);
  self->model = model;
  if (!onnx_read_decode_model (self, proto, error))
    {
      g_prefix_error (error, "“%s”: ", onnx_read_shown_path (self->path));
      vn_message_make_valid (error);
      return NULL;
    }
  model->file_size = g_bytes_get_size (self->bytes) + self->external_bytes;
  return g_steal_pointer (&model);
}

static GBytes *
onnx_read_strip_input (VnOnnxReader  *self,
                       StripKind      kind,
                       GError       **error)
{
  GBytes *small;
  GError *local = NULL;

  if (g_bytes_get_size (self->bytes) == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is empty"), onnx_read_shown_path (self->path));
      return NULL;
    }
  small = vn_onnx_strip (self->bytes, kind, self->views, &local);
  if (small == NULL)
    {
      onnx_read_explain_failure (self->bytes, self->path, &local);
      g_propagate_error (error, local);
    }
  return small;
}

/**
 * vn_onnx_read_bytes:
 * @bytes: a ModelProto, encoded (kept alive by the model's tensors) or as text: protobuf's text format, or its JSON
 * @path: (nullable): where it came from
 *
 * Fails with %VN_ERROR_MALFORMED if this is no ONNX model or one that breaks the format's rules, %VN_ERROR_UNSUPPORTED
 * for element types and ranks that cannot be held, %VN_ERROR_LIMIT for sizes and nesting beyond measure,
 * %VN_ERROR_MISSING_DATA or a file error if external data are not there, %VN_ERROR_MEMORY.
 *
 * Returns: (transfer full) (nullable): the model
 */
VnModel *
vn_onnx_read_bytes (GBytes      *bytes,
                    const char  *path,
                    GError     **error)
{
  g_autoptr(GBytes) encoded = NULL;
  g_autoptr(GBytes) small = NULL;
  g_autoptr(VnModel) model = NULL;
  guint mark = vn_memory_mark ();
  VnOnnxReader self;
  PbModel *proto;

  g_return_val_if_fail (bytes != NULL, NULL);

  encoded = vn_onnx_is_text (bytes) ? vn_onnx_parse (bytes, error) : g_bytes_ref (bytes);
  if (encoded == NULL)
    {
      g_prefix_error (error, _("“%s” is not an ONNX file: "), onnx_read_shown_path (path));
      return NULL;
    }
  vn_onnx_reader_init (&self, encoded, path);
  self.decode_graph = vn_onnx_graph_decode;
  small = onnx_read_strip_input (&self, STRIP_MODEL, error);
  if (small != NULL)
    {
      proto = vn__onnx__model_proto__unpack (&self.allocator.functions, g_bytes_get_size (small), g_bytes_get_data (small, NULL));
      model = proto != NULL ? onnx_read_build_model (&self, proto, error) : onnx_read_fail_unpack (&self, error);
      if (proto != NULL)
        vn__onnx__model_proto__free_unpacked (proto, &self.allocator.functions);
    }
  vn_onnx_reader_clear (&self);
  return model != NULL && vn_memory_check (mark, error) ? g_steal_pointer (&model) : NULL;
}

/**
 * vn_onnx_read_file:
 *
 * Maps and reads a model; see vn_onnx_read_bytes(). The file may be replaced while the model is in use;
 * vn_model_check_files() says whether it was written into.
 *
 * Returns: (transfer full) (nullable): the model; %G_FILE_ERROR if the file cannot be opened, or was changed or replaced while
 *   it was read
 */
VnModel *
vn_onnx_read_file (const char  *path,
                   GError     **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(VnModel) model = NULL;
  GError *reason = NULL;
  const char *folder;

  g_return_val_if_fail (path != NULL, NULL);

  folder = vn_onnx_recognise_folder (path);
  if (folder != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not an ONNX file: it is %s"), path, folder);
      return NULL;
    }
  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  vn_file_watch_map (bytes);
  model = vn_onnx_read_bytes (bytes, path, &reason);
  if (model != NULL)
    g_ptr_array_add (model->maps, g_bytes_ref (bytes));
  /* Who replaces a model with its weights replaces one after the other: what was mapped must belong together. */
  if (!vn_file_check_map (bytes, TRUE, error) || (model != NULL && !vn_model_check_files (model, error)))
    {
      g_clear_error (&reason);
      return NULL;
    }
  if (model == NULL)
    g_propagate_error (error, reason);
  return g_steal_pointer (&model);
}
