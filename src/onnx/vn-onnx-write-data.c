/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files with weights beside a model. All of them are complete on the disk, under names nobody looks for, before the first takes
 * its place. At every moment the model there, old or new, names weights that are its own: while older weights are replaced it
 * is one that names the new ones by those other names. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A cancelled write ends within so many bytes. */
#define PIECE ((gsize) 16 << 20)

/* Of a tensor's name in the name of its file; file systems end at 255 for the whole. */
#define MAX_NAME 120

/* @spare: nothing names @temporary */
typedef struct
{
  char     *path, *temporary;
  gboolean  spare;
} DataFile;

static void
data_file_free (gpointer data)
{
  DataFile *self = data;

  if (self->spare)
    g_unlink (self->temporary);
  g_free (self->path);
  g_free (self->temporary);
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
  file->spare = writer != NULL && vn_file_writer_commit (writer, error);
  return file->spare;
}

/**
 * vn_onnx_write_pieces:
 * @suffix: what the names end with for the time being
 * @files: of vn_onnx_files_new()
 *
 * Writes what goes outside, under temporary names.
 */
gboolean
vn_onnx_write_pieces (VnOnnxEncoder  *self,
                      const char     *suffix,
                      GPtrArray      *files,
                      GCancellable   *cancellable,
                      GError        **error)
{
  for (guint i = 0, end = 0; i < self->pieces->len; i = end)
    {
      DataFile *file = g_new0 (DataFile, 1);

      file->path = g_build_filename (self->folder, g_array_index (self->pieces, ExternalPiece, i).location, NULL);
      file->temporary = g_strconcat (file->path, suffix, NULL);
      g_ptr_array_add (files, file);
      if (!write_file (self, i, &end, file, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_onnx_check_places:
 * @replaces: (out): older files stand there
 *
 * Returns: %FALSE if it is clear that the files cannot have their names
 */
gboolean
vn_onnx_check_places (GPtrArray  *files,
                      gboolean   *replaces,
                      GError    **error)
{
  *replaces = FALSE;
  for (guint i = 0; i < files->len; i++)
    {
      const DataFile *file = g_ptr_array_index (files, i);
      struct stat info;

      if (lstat (file->path, &info) != 0)
        continue;
      *replaces = TRUE;
      if (S_ISDIR (info.st_mode))
        {
          vn_file_fail (error, _("Cannot write"), file->path, EISDIR);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
onnx_write_data_rename (const char  *from,
                        const char  *to,
                        GError     **error)
{
  if (g_rename (from, to) == 0)
    return TRUE;
  vn_file_fail (error, _("Cannot write"), to, errno);
  return FALSE;
}

/* Where nothing is replaced: without the model nobody looks at its weights. */
static gboolean
onnx_write_data_place_new (GPtrArray     *files,
                           VnFileWriter  *model,
                           GError       **error)
{
  gboolean done = TRUE;

  for (guint i = 0; done && i < files->len; i++)
    {
      DataFile *file = g_ptr_array_index (files, i);

      done = onnx_write_data_rename (file->temporary, file->path, error);
      file->spare &= !done;
    }
  if (done && vn_file_writer_commit (model, error))
    return TRUE;
  for (guint i = 0; i < files->len; i++)
    {
      const DataFile *file = g_ptr_array_index (files, i);

      if (!file->spare)
        g_unlink (file->path);
    }
  return FALSE;
}

/* The file gets its name and keeps the other, which the model that is there calls it by. On file systems where one file cannot
 * have two, that model lacks its weights, and is refused, until the next takes its place. */
static gboolean
onnx_write_data_replace_file (const DataFile  *file,
                              GError         **error)
{
  g_autofree char *second = g_strconcat (file->temporary, "-2", NULL);

  if (link (file->temporary, second) != 0)
    return onnx_write_data_rename (file->temporary, file->path, error);
  if (onnx_write_data_rename (second, file->path, error))
    return TRUE;
  g_unlink (second);
  return FALSE;
}

/* What fails behind the first step leaves the model with its weights under their temporary names: complete. */
static gboolean
onnx_write_data_replace (GPtrArray     *files,
                         VnFileWriter  *interim,
                         VnFileWriter  *model,
                         GError       **error)
{
  gboolean done;

  if (!vn_file_writer_commit (interim, error))
    return FALSE;
  for (guint i = 0; i < files->len; i++)
    ((DataFile *) g_ptr_array_index (files, i))->spare = FALSE;
  done = TRUE;
  for (guint i = 0; done && i < files->len; i++)
    done = onnx_write_data_replace_file (g_ptr_array_index (files, i), error);
  done = done && vn_file_writer_commit (model, error);
  for (guint i = 0; i < files->len; i++)
    ((DataFile *) g_ptr_array_index (files, i))->spare = done;
  return done;
}

/**
 * vn_onnx_place_files:
 * @interim: (nullable): the model that names the files by their temporary names, written completely; needed to replace files
 * @model: the model, written completely
 *
 * Gives all files their names.
 */
gboolean
vn_onnx_place_files (GPtrArray     *files,
                     VnFileWriter  *interim,
                     VnFileWriter  *model,
                     GError       **error)
{
  return interim != NULL ? onnx_write_data_replace (files, interim, model, error)
         : onnx_write_data_place_new (files, model, error);
}

/* ---- weights of a model that was replaced ---- */

static gboolean
onnx_write_data_has_own (const char *folder,
                         const char *prefix)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, prefix))
      return TRUE;
  return FALSE;
}

/**
 * vn_onnx_list_own_files:
 * @path: of a model, or where one may be
 *
 * Returns: (transfer full) (element-type filename): the files with its weights that are called after it, such as m.onnx.data: no
 *   use without it
 */
GPtrArray *
vn_onnx_list_own_files (const char *path)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (path),
  *prefix = g_strconcat (base, ".", NULL);
  g_autoptr(VnModel) model = onnx_write_data_has_own (folder, prefix) ? vn_onnx_read_file (path, NULL) : NULL;

  for (guint i = 0; model != NULL && i < model->files->len; i++)
    {
      const char *file = g_ptr_array_index (model->files, i);
      g_autofree char *own_folder = g_path_get_dirname (file), *name = g_path_get_basename (file);

      if (g_str_equal (own_folder, folder) && g_str_has_prefix (name, prefix))
        g_ptr_array_add (list, g_strdup (file));
    }
  return list;
}

/**
 * vn_onnx_remove_own_files:
 * @own: of vn_onnx_list_own_files(), before the model was replaced
 * @files: (nullable): that the new one has
 * @others: (nullable): what is read and written beside
 *
 * Removes what the new model does not have.
 */
void
vn_onnx_remove_own_files (GPtrArray *own,
                          GPtrArray *files,
                          VnFileSet *others)
{
  for (guint i = 0; i < own->len; i++)
    {
      const char *path = g_ptr_array_index (own, i);
      gboolean used = others != NULL && vn_file_set_has_other (others, path, VN_ONNX_WEIGHTS);

      for (guint k = 0; files != NULL && !used && k < files->len; k++)
        used = g_str_equal (((DataFile *) g_ptr_array_index (files, k))->path, path);
      if (!used)
        g_unlink (path);
    }
}
