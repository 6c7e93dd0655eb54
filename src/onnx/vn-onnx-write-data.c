/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files with weights beside a model. All of them are complete on the disk, under names nobody looks for, before the
 * first takes its place; if one of them or the model cannot, the older files come back. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* A cancelled write ends within so many bytes. */
#define PIECE ((gsize) 16 << 20)

/* Of a tensor's name in the name of its file; file systems end at 255 for the whole. */
#define MAX_NAME 120

typedef struct
{
  char     *path, *temporary, *backup;
  gboolean  written, placed, had_old;
} DataFile;

static void
data_file_free (gpointer data)
{
  DataFile *self = data;

  if (self->written && !self->placed)
    g_unlink (self->temporary);
  g_free (self->path);
  g_free (self->temporary);
  g_free (self->backup);
  g_free (self);
}

/**
 * vn_onnx_files_new:
 *
 * Returns: (transfer full): what vn_onnx_write_pieces() fills; freeing it removes files that were not placed
 */
GPtrArray *
vn_onnx_files_new (void)
{
  return g_ptr_array_new_with_free_func (data_file_free);
}

static gboolean
onnx_write_data_name_is_taken (VnOnnxEncoder *self,
                               const char    *name)
{
  g_autofree char *path = g_build_filename (self->folder, name, NULL);

  return g_hash_table_contains (self->names, name) ||
         (self->files != NULL && vn_file_set_has_other (self->files, path, VN_ONNX_WEIGHTS));
}

/**
 * vn_onnx_name_piece:
 * @tensor_name: (nullable)
 *
 * Returns: (transfer none): the file that tensor goes to: the common one, or a new one with a name that no other has
 */
const char *
vn_onnx_name_piece (VnOnnxEncoder *self,
                    const char    *tensor_name)
{
  g_autofree char *plain = g_strndup (tensor_name != NULL && *tensor_name != '\0' ? tensor_name : "tensor", MAX_NAME);
  char *name;

  if (self->names == NULL)
    return self->location;
  for (char *at = plain; *at != '\0'; at++)
    if (!g_ascii_isalnum (*at) && strchr ("._-+", *at) == NULL)
      *at = '_';
  name = g_strdup_printf ("%s.%s", self->location, plain);
  for (guint i = 2; onnx_write_data_name_is_taken (self, name); i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s.%s.%u", self->location, plain, i);
    }
  g_hash_table_add (self->names, name);
  return name;
}

/**
 * vn_onnx_write_piece:
 *
 * Writes a block that may be large.
 *
 * Returns: %FALSE also when cancelled
 */
gboolean
vn_onnx_write_piece (VnFileWriter   *writer,
                     GCancellable   *cancellable,
                     gconstpointer   data,
                     gsize           size,
                     GError        **error)
{
  const guint8 *at = data;

  for (gsize done = 0; done < size; done += MIN (PIECE, size - done))
    if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
        !vn_file_writer_write (writer, at + done, MIN (PIECE, size - done), error))
      return FALSE;
  return TRUE;
}

/* Pieces from @first on that go to the same file; @end: (out): the first that does not. */
static gboolean
write_file (VnOnnxEncoder  *self,
            guint           first,
            guint          *end,
            DataFile       *file,
            GCancellable   *cancellable,
            GError        **error)
{
  static const guint8 zeros[4096];
  g_autoptr(VnFileWriter) writer = vn_file_writer_new (file->temporary, error);
  const char *location = g_array_index (self->pieces, ExternalPiece, first).location;
  guint64 at = 0;
  guint i;

  for (i = first; writer != NULL && i < self->pieces->len; i++)
    {
      const ExternalPiece *piece = &g_array_index (self->pieces, ExternalPiece, i);

      if (piece->location != location)
        break;
      if (!vn_onnx_write_piece (writer, cancellable, zeros, piece->offset - at, error) ||
          !vn_onnx_write_piece (writer, cancellable, piece->tensor->data, piece->tensor->n_bytes, error))
        return FALSE;
      at = piece->offset + piece->tensor->n_bytes;
    }
  *end = i;
  file->written = writer != NULL && vn_file_writer_commit (writer, error);
  return file->written;
}

/**
 * vn_onnx_write_pieces:
 * @folder: of the model
 * @files: of vn_onnx_files_new()
 *
 * Writes what goes outside, under temporary names.
 */
gboolean
vn_onnx_write_pieces (VnOnnxEncoder  *self,
                      const char     *folder,
                      GPtrArray      *files,
                      GCancellable   *cancellable,
                      GError        **error)
{
  guint32 mark = g_random_int ();

  for (guint i = 0, end = 0; i < self->pieces->len; i = end)
    {
      DataFile *file = g_new0 (DataFile, 1);

      file->path = g_build_filename (folder, g_array_index (self->pieces, ExternalPiece, i).location, NULL);
      file->temporary = g_strdup_printf ("%s.new-%08x", file->path, mark);
      file->backup = g_strdup_printf ("%s.old-%08x", file->path, mark);
      g_ptr_array_add (files, file);
      if (!write_file (self, i, &end, file, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
onnx_write_data_place_file (DataFile  *file,
                            GError   **error)
{
  file->had_old = link (file->path, file->backup) == 0;
  if (g_rename (file->temporary, file->path) != 0)
    {
      int code = errno;

      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), _("Cannot write “%s”: %s"), file->path,
                   g_strerror (code));
      return FALSE;
    }
  file->placed = TRUE;
  return TRUE;
}

static void
onnx_write_data_settle_file (DataFile *file,
                             gboolean  done)
{
  if (!done && file->placed && (!file->had_old || g_rename (file->backup, file->path) != 0))
    g_unlink (file->path);
  if (file->had_old)
    g_unlink (file->backup);
}

/**
 * vn_onnx_place_files:
 * @main_writer: the model, written completely
 *
 * Gives all files their names, the model last.
 */
gboolean
vn_onnx_place_files (GPtrArray     *files,
                     VnFileWriter  *main_writer,
                     GError       **error)
{
  gboolean done = TRUE;

  for (guint i = 0; done && i < files->len; i++)
    done = onnx_write_data_place_file (g_ptr_array_index (files, i), error);
  done = done && vn_file_writer_commit (main_writer, error);
  for (guint i = 0; i < files->len; i++)
    onnx_write_data_settle_file (g_ptr_array_index (files, i), done);
  return done;
}
