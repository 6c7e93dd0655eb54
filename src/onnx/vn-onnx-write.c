/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a model into memory or into files, with external data where it does not fit into one. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

/* Readers of protocol buffers stop at 2 GB. */
#define MAX_MESSAGE ((guint64) G_MAXINT32)

/* What moves out when a model does not fit into one file. */
#define LARGE_TENSOR 1024

static void
onnx_write_encoder_init (VnOnnxEncoder            *self,
                         const char               *location,
                         const char               *folder,
                         const VnOnnxWriteOptions *options,
                         gsize                     threshold)
{
  gboolean each = options != NULL && options->external_each;

  *self = (VnOnnxEncoder) {
    .out = vn_wire_out_new (), .threshold = threshold, .location = location, .folder = folder,
    .files = options != NULL ? options->files : NULL,
    .names = each ? g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) : NULL,
    .pieces = g_array_new (FALSE, FALSE, sizeof (ExternalPiece)),
  };
}

static void
onnx_write_encoder_clear (VnOnnxEncoder *self)
{
  vn_wire_out_free (self->out);
  g_array_unref (self->pieces);
  g_clear_pointer (&self->names, g_hash_table_unref);
}

static gboolean
onnx_write_fits (VnOnnxEncoder *self)
{
  return !vn_wire_out_overflow (self->out) && !vn_wire_out_failed (self->out) && vn_wire_out_size (self->out) <= MAX_MESSAGE;
}

static gboolean
onnx_write_too_large (VnOnnxEncoder  *self,
                      GError        **error)
{
  if (vn_wire_out_failed (self->out))
    {
      vn_memory_set_error ((gsize) vn_wire_out_size (self->out), error);
      return FALSE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
               _("The model would take %.1f GB in one file, but ONNX files are limited to 2 GB. Store its weights as "
                 "external data"),
               (double) vn_wire_out_size (self->out) / 1e9);
  return FALSE;
}

/* ---- into memory ---- */

/**
 * vn_onnx_write_bytes:
 *
 * Returns: (transfer full) (nullable): the model with all weights inside; %VN_ERROR_LIMIT beyond 2 GB
 */
GBytes *
vn_onnx_write_bytes (const VnModel  *model,
                     GError        **error)
{
  g_auto(VnBuffer) buffer = { 0 };
  GBytes *bytes = NULL;
  VnOnnxEncoder self;

  g_return_val_if_fail (model != NULL, NULL);

  onnx_write_encoder_init (&self, NULL, NULL, NULL, 0);
  vn_onnx_encode_model (&self, model);
  if (!onnx_write_fits (&self))
    onnx_write_too_large (&self, error);
  else
    {
      if (vn_buffer_reserve (&buffer, (gsize) vn_wire_out_size (self.out)))
        vn_wire_out_append (self.out, &buffer);
      bytes = vn_buffer_steal_bytes (&buffer, error);
    }
  onnx_write_encoder_clear (&self);
  return bytes;
}

/**
 * vn_onnx_count_bytes:
 *
 * Returns: how many bytes vn_onnx_write_bytes() would give; 0 with an error where it fails
 */
gsize
vn_onnx_count_bytes (const VnModel  *model,
                     GError        **error)
{
  VnOnnxEncoder self;
  gsize size;

  g_return_val_if_fail (model != NULL, 0);

  onnx_write_encoder_init (&self, NULL, NULL, NULL, 0);
  vn_onnx_encode_model (&self, model);
  size = onnx_write_fits (&self) ? (gsize) vn_wire_out_size (self.out) : 0;
  if (size == 0)
    onnx_write_too_large (&self, error);
  onnx_write_encoder_clear (&self);
  return size;
}

/* ---- into files ---- */

typedef struct
{
  const VnModel            *model;
  const char               *path, *folder, *location;
  const VnOnnxWriteOptions *options;
  GCancellable             *cancellable;
} Writing;

typedef struct
{
  VnFileWriter *writer;
  GCancellable *cancellable;
} FileSink;

static gboolean
write_piece (gpointer        data,
             gconstpointer   piece,
             gsize           size,
             GError        **error)
{
  FileSink *sink = data;

  return vn_onnx_write_piece (sink->writer, sink->cancellable, piece, size, error);
}

/* All but its name. */
static VnFileWriter *
write_message (const Writing  *writing,
               VnOnnxEncoder  *encoder,
               GError        **error)
{
  g_autoptr(VnFileWriter) writer = NULL;
  FileSink sink = { NULL, writing->cancellable };

  if (!onnx_write_fits (encoder))
    {
      onnx_write_too_large (encoder, error);
      return NULL;
    }
  if (g_cancellable_set_error_if_cancelled (writing->cancellable, error))
    return NULL;
  sink.writer = writer = vn_file_writer_new (writing->path, error);
  if (writer == NULL || !vn_wire_out_emit (encoder->out, write_piece, &sink, error) ||
      g_cancellable_set_error_if_cancelled (writing->cancellable, error))
    return NULL;
  return g_steal_pointer (&writer);
}

static VnFileWriter *
write_interim (const Writing        *writing,
               const VnOnnxEncoder  *encoder,
               const char           *suffix,
               GError              **error)
{
  VnOnnxEncoder interim;
  VnFileWriter *writer;

  onnx_write_encoder_init (&interim, writing->location, writing->folder, writing->options, encoder->threshold);
  interim.suffix = suffix;
  vn_onnx_encode_model (&interim, writing->model);
  writer = write_message (writing, &interim, error);
  onnx_write_encoder_clear (&interim);
  return writer;
}

static gboolean
write_files (const Writing  *writing,
             VnOnnxEncoder  *encoder,
             GPtrArray      *files,
             GError        **error)
{
  g_autofree char *suffix = g_strdup_printf (".new-%08x", g_random_int ());
  g_autoptr(VnFileWriter) interim = NULL;
  g_autoptr(VnFileWriter) writer = NULL;
  gboolean replaces;

  if (!vn_onnx_write_pieces (encoder, suffix, files, writing->cancellable, error) ||
      !vn_onnx_check_places (files, &replaces, error) || (writer = write_message (writing, encoder, error)) == NULL ||
      (replaces && (interim = write_interim (writing, encoder, suffix, error)) == NULL))
    return FALSE;
  /* The last moment at which nothing has been replaced. */
  return vn_model_check_files (writing->model, error) && vn_onnx_place_files (files, interim, writer, error);
}

static gboolean
write_encoded (const Writing  *writing,
               VnOnnxEncoder  *encoder,
               GError        **error)
{
  g_autoptr(GPtrArray) own = NULL;
  g_autoptr(GPtrArray) files = vn_onnx_files_new ();
  g_autoptr(GError) reason = NULL;

  if (!onnx_write_fits (encoder))
    return onnx_write_too_large (encoder, error);
  own = vn_onnx_list_own_files (writing->path);
  if (write_files (writing, encoder, files, &reason))
    {
      vn_onnx_remove_own_files (own, files, encoder->files);
      return TRUE;
    }
  /* Writing what is gone from a mapped file fails with “bad address”. */
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED) || vn_model_check_files (writing->model, error))
    g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

static gboolean
onnx_write_check_external_name (const char                *path,
                                const VnOnnxWriteOptions  *options,
                                GError                   **error)
{
  g_autofree char *own = g_path_get_basename (path);
  const char *name = options != NULL ? options->external_name : NULL;

  if (name == NULL)
    return TRUE;
  if (*name != '\0' && strchr (name, '/') == NULL && !g_str_equal (name, ".") && !g_str_equal (name, "..") &&
      !g_str_equal (name, own))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("“%s” cannot be the weight file: use a plain file name other than the model's"), name);
  return FALSE;
}

/* Of the file with all weights, or how those of single tensors begin. */
static char *
onnx_write_dup_location (const char               *path,
                         const VnOnnxWriteOptions *options)
{
  g_autofree char *base = g_path_get_basename (path);

  if (options != NULL && options->external_name != NULL)
    return g_strdup (options->external_name);
  return options != NULL && options->external_each ? g_steal_pointer (&base) : g_strdup_printf ("%s.data", base);
}

/* A model may turn out to need one that nobody expected. */
static gboolean
onnx_write_check_location (const VnOnnxEncoder  *self,
                           GError              **error)
{
  g_autofree char *path = g_build_filename (self->folder, self->location, NULL);

  if (self->pieces->len == 0 || self->names != NULL || self->files == NULL ||
      !vn_file_set_has_other (self->files, path, VN_ONNX_WEIGHTS))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("The weights would be written to “%s”, which is already in use"),
               path);
  return FALSE;
}

/**
 * vn_onnx_add_outputs:
 * @set: told which files vn_onnx_write_file() will write; those of single tensors avoid what is in it
 * @model: that is rewritten
 * @path: (nullable): where the result will appear; %NULL adds nothing
 * @options: (nullable)
 * @what: the option that names @path
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if the options name no file
 */
gboolean
vn_onnx_add_outputs (VnFileSet                 *set,
                     const VnModel             *model,
                     const char                *path,
                     const VnOnnxWriteOptions  *options,
                     const char                *what,
                     GError                   **error)
{
  gboolean moves = options != NULL && options->external_threshold > 0, each = options != NULL && options->external_each;
  g_autofree char *folder = NULL, *location = NULL, *data = NULL;

  g_return_val_if_fail (set != NULL && model != NULL, FALSE);

  if (path == NULL)
    return TRUE;
  if (!onnx_write_check_external_name (path, options, error))
    return FALSE;
  vn_file_set_writes (set, path, what);
  if (each || !(moves || model->files->len > 0))
    return TRUE;
  folder = g_path_get_dirname (path);
  location = onnx_write_dup_location (path, options);
  data = g_build_filename (folder, location, NULL);
  vn_file_set_writes (set, data, VN_ONNX_WEIGHTS);
  return TRUE;
}

/* What is made of a model with external data is such a model: a small file beside one with the weights. */
static gsize
onnx_write_threshold (const VnModel            *model,
                      const VnOnnxWriteOptions *options)
{
  if (options != NULL && options->external_threshold > 0)
    return options->external_threshold;
  return model->files->len > 0 ? LARGE_TENSOR : 0;
}

/**
 * vn_onnx_write_file:
 * @path: where the model shall appear; a file of that name is replaced when everything is written
 * @options: (nullable)
 *
 * Streams the model; weights are not copied. When an external file or the model cannot be written completely, or the
 * work is cancelled, neither appears and older ones stay. External files lie beside the model. Should the process end, or the
 * machine, there is either the older model with its weights or the new one with its own. Weights of an older model that
 * are called after it and that the new one does not have are removed in the end.
 *
 * Returns: %FALSE with %G_FILE_ERROR, also if a file that @model was read from was changed; %G_IO_ERROR_CANCELLED; or
 *   %VN_ERROR_LIMIT if what must stay inside exceeds 2 GB
 */
gboolean
vn_onnx_write_file (const VnModel             *model,
                    const char                *path,
                    const VnOnnxWriteOptions  *options,
                    GCancellable              *cancellable,
                    GError                   **error)
{
  gsize threshold;
  g_autofree char *location = onnx_write_dup_location (path, options), *folder = g_path_get_dirname (path);
  VnOnnxEncoder self;
  Writing writing;
  gboolean done;

  g_return_val_if_fail (model != NULL, FALSE);

  if (!onnx_write_check_external_name (path, options, error))
    return FALSE;
  threshold = onnx_write_threshold (model, options);
  onnx_write_encoder_init (&self, location, folder, options, threshold);
  vn_onnx_encode_model (&self, model);
  if (!onnx_write_fits (&self) && !vn_wire_out_failed (self.out) && threshold == 0)
    {
      onnx_write_encoder_clear (&self);
      onnx_write_encoder_init (&self, location, folder, options, LARGE_TENSOR);
      vn_onnx_encode_model (&self, model);
    }
  writing = (Writing) { model, path, folder, location, options, cancellable };
  done = onnx_write_check_location (&self, error) && write_encoded (&writing, &self, error);
  onnx_write_encoder_clear (&self);
  return done;
}
