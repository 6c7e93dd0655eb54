/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of onnxruntime-genai: which network is in one, and copies of what lies beside it. */
#include "vn-genai-folder.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json-fields.h"
#include "vn-json.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/* Folders in the folder are looked into so deep, and files beside the network are so many at most. */
#define MAX_DEPTH 8
#define MAX_FILES 2000

/* A cancelled copy ends within so many bytes. */
#define PIECE ((gsize) 16 << 20)

/**
 * vn_genai_folder_is:
 *
 * Returns: whether @path is a folder with a configuration for onnxruntime-genai
 */
gboolean
vn_genai_folder_is (const char *path)
{
  g_autofree char *config = NULL;

  g_return_val_if_fail (path != NULL, FALSE);

  config = g_build_filename (path, VN_GENAI_CONFIG, NULL);
  return g_file_test (path, G_FILE_TEST_IS_DIR) && g_file_test (config, G_FILE_TEST_IS_REGULAR);
}

static char *
genai_folder_read_name (JsonNode  *root,
                        GError   **error)
{
  VnJsonFields all, model, decoder;
  g_autofree char *name = NULL;

  vn_json_fields_init (&all, root, "");
  vn_json_fields_enter (&model, &all, "model");
  vn_json_fields_enter (&decoder, &model, "decoder");
  name = vn_json_fields_dup_text (&decoder, "filename");
  /* it may come from anybody, and names what is read and written */
  if (name != NULL && (*name == '\0' || *name == '.' || strpbrk (name, "/\\") != NULL))
    vn_json_fields_fail (&decoder, "filename", _("“%s” is not the name of a file in this folder"), name);
  vn_json_fields_leave (&decoder, &model);
  vn_json_fields_leave (&model, &all);
  return vn_json_fields_end (&all, error) ? g_steal_pointer (&name) : NULL;
}

/**
 * vn_genai_folder_open:
 * @path: of a folder, for which vn_genai_folder_is()
 *
 * Returns: (transfer full) (nullable): what its configuration says; %NULL with an error that names the file if that is wrong
 */
VnGenaiFolder *
vn_genai_folder_open (const char  *path,
                      GError     **error)
{
  g_autofree char *config = NULL, *name = NULL;
  g_autoptr(JsonNode) root = NULL;
  VnGenaiFolder *self;

  g_return_val_if_fail (path != NULL, NULL);

  config = g_build_filename (path, VN_GENAI_CONFIG, NULL);
  root = vn_json_load (config, error);
  if (root == NULL)
    return NULL;
  name = genai_folder_read_name (root, error);
  if (name == NULL)
    {
      g_prefix_error (error, "%s: ", config);
      return NULL;
    }
  self = g_new0 (VnGenaiFolder, 1);
  self->path = g_canonicalize_filename (path, NULL);
  self->model = g_build_filename (path, name, NULL);
  self->name = g_steal_pointer (&name);
  return self;
}

void
vn_genai_folder_free (VnGenaiFolder *self)
{
  g_free (self->path);
  g_free (self->name);
  g_free (self->model);
  g_free (self);
}

/**
 * vn_genai_folder_find:
 * @model: path of a network
 *
 * Returns: (transfer full) (nullable): the folder that @model is the decoder of; %NULL: it is none
 */
VnGenaiFolder *
vn_genai_folder_find (const char *model)
{
  g_autofree char *path = NULL, *name = NULL;
  g_autoptr(VnGenaiFolder) self = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  path = g_path_get_dirname (model);
  name = g_path_get_basename (model);
  self = vn_genai_folder_is (path) ? vn_genai_folder_open (path, NULL) : NULL;
  return self != NULL && g_str_equal (self->name, name) ? g_steal_pointer (&self) : NULL;
}

/* ---- what comes along ---- */

/* @to: where all goes; @names: (element-type filename): of files, from the folder on */
typedef struct
{
  const VnGenaiFolder *folder;
  const VnModel       *model;
  const char          *to;
  GPtrArray           *names;
} Listing;

/* @name: from the folder on */
static gboolean
genai_folder_is_of_model (const Listing *self,
                          const char    *name)
{
  g_autofree char *path = g_canonicalize_filename (name, self->folder->path);

  if (g_str_equal (name, self->folder->name))
    return TRUE;
  for (guint i = 0; i < self->model->files->len; i++)
    {
      g_autofree char *own = g_canonicalize_filename (g_ptr_array_index (self->model->files, i), NULL);

      if (g_str_equal (own, path))
        return TRUE;
    }
  return FALSE;
}

/* What the export goes into, what is another language model, and what programs keep for themselves is none of the model's. */
static gboolean
genai_folder_is_foreign (const Listing  *self,
                         const char     *path,
                         const GStatBuf *info)
{
  g_autofree char *name = g_path_get_basename (path);
  GStatBuf to;

  return *name == '.' || vn_genai_folder_is (path) ||
         (g_stat (self->to, &to) == 0 && to.st_dev == info->st_dev && to.st_ino == info->st_ino);
}

/* Hubs keep the files of a model as links to elsewhere. What lies deeper comes from the folder itself. */
static gboolean
genai_folder_check_link (const Listing  *self,
                         const char     *path,
                         GError        **error)
{
  char *root = realpath (self->folder->path, NULL), *target = realpath (path, NULL);
  const gsize n = root != NULL ? strlen (root) : 0;
  const gboolean is_inside = root != NULL && target != NULL && strncmp (target, root, n) == 0 && target[n] == G_DIR_SEPARATOR;

  free (root);
  free (target);
  if (!is_inside)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is a link out of the folder of the model: put the file there"),
                 path);
  return is_inside;
}

static gboolean
genai_folder_list_file (Listing         *self,
                        const char      *name,
                        const char      *path,
                        const GStatBuf  *info,
                        guint            depth,
                        GError         **error)
{
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR) || genai_folder_is_of_model (self, name))
    return TRUE;
  if (depth > 0 && S_ISLNK (info->st_mode) && !genai_folder_check_link (self, path, error))
    return FALSE;
  if (self->names->len == MAX_FILES)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("“%s” has more than %d files"), self->folder->path, MAX_FILES);
      return FALSE;
    }
  g_ptr_array_add (self->names, g_strdup (name));
  return TRUE;
}

/* @inner: (nullable): a folder, from the folder on */
static gboolean
genai_folder_list_in (Listing     *self,
                      const char  *inner,
                      guint        depth,
                      GError     **error)
{
  g_autofree char *folder = g_build_filename (self->folder->path, inner, NULL);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, error);
  gboolean good = dir != NULL;
  const char *base;

  while (good && (base = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, base, NULL),
      *name = inner != NULL ? g_build_filename (inner, base, NULL) : g_strdup (base);
      GStatBuf info;

      if (g_lstat (path, &info) != 0)
        continue;
      if (!S_ISDIR (info.st_mode))
        good = genai_folder_list_file (self, name, path, &info, depth, error);
      else if (!genai_folder_is_foreign (self, path, &info))
        {
          good = depth < MAX_DEPTH;
          if (good)
            good = genai_folder_list_in (self, name, depth + 1, error);
          else
            g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("“%s” has folders more than %d levels deep"), self->folder->path,
                         MAX_DEPTH);
        }
    }
  return good;
}

static int
genai_folder_compare_names (gconstpointer a,
                            gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

/**
 * vn_genai_folder_list_others:
 * @model: that of @self
 * @to: a folder that is to get a copy; what is in there is none of @self, though it may lie in it
 *
 * Files beside the network and in folders there. Not those of hidden folders, of other language models, and behind links to
 * folders; links to files are followed, from inner folders only within @self.
 *
 * Returns: (transfer full) (nullable) (element-type filename): their names, from @self's folder on, sorted
 */
GPtrArray *
vn_genai_folder_list_others (const VnGenaiFolder  *self,
                             const VnModel        *model,
                             const char           *to,
                             GError              **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  Listing listing = { self, model, to, names };

  g_return_val_if_fail (self != NULL && model != NULL && to != NULL, NULL);

  if (!genai_folder_list_in (&listing, NULL, 0, error))
    return NULL;
  g_ptr_array_sort (names, genai_folder_compare_names);
  return g_steal_pointer (&names);
}

/**
 * vn_genai_folder_add_outputs:
 * @model: that of @self
 * @to: a folder, which need not be there yet
 * @files: gets what vn_genai_folder_copy() reads and writes
 */
gboolean
vn_genai_folder_add_outputs (const VnGenaiFolder  *self,
                             const VnModel        *model,
                             const char           *to,
                             VnFileSet            *files,
                             GError              **error)
{
  g_autoptr(GPtrArray) names = NULL;

  g_return_val_if_fail (self != NULL && model != NULL && to != NULL && files != NULL, FALSE);

  names = vn_genai_folder_list_others (self, model, to, error);
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      g_autofree char *from = g_build_filename (self->path, g_ptr_array_index (names, i), NULL),
      *target = g_build_filename (to, g_ptr_array_index (names, i), NULL), *folder = g_path_get_dirname (target),
      *name = g_path_get_basename (target);

      vn_file_set_reads (files, from, _("a file of the language model"));
      vn_file_set_writes_in (files, folder, name, _("a file of the language model"));
    }
  return names != NULL;
}

/**
 * vn_genai_folder_copy_file:
 * @from: of vn_genai_folder_list_others()
 * @to: where it goes; folders on the way there are made
 */
gboolean
vn_genai_folder_copy_file (const char    *from,
                           const char    *to,
                           GCancellable  *cancellable,
                           GError       **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(VnFileWriter) writer = NULL;
  g_autofree char *folder = NULL;
  gsize size = 0;
  const guint8 *data;

  g_return_val_if_fail (from != NULL && to != NULL, FALSE);

  folder = g_path_get_dirname (to);
  if (g_mkdir_with_parents (folder, 0777) != 0)
    {
      vn_file_fail (error, _("Cannot write"), folder, errno);
      return FALSE;
    }
  bytes = vn_file_map (from, error);
  writer = bytes != NULL ? vn_file_writer_new (to, error) : NULL;
  data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;
  for (gsize done = 0, n; writer != NULL && done < size; done += n)
    {
      n = MIN (PIECE, size - done);
      if (g_cancellable_set_error_if_cancelled (cancellable, error) || !vn_file_writer_write (writer, data + done, n, error))
        return FALSE;
      vn_file_release_pages (data + done, n);
    }
  return writer != NULL && vn_file_check_map (bytes, FALSE, error) && vn_file_writer_commit (writer, error);
}

/**
 * vn_genai_folder_copy:
 * @model: that of @self
 * @to: a folder that is there
 *
 * Copies what lies beside the network, such as configuration, tokenizer and chat template. The configuration stays as it is: an
 * export has the name, the inputs and the outputs of its network.
 */
gboolean
vn_genai_folder_copy (const VnGenaiFolder  *self,
                      const VnModel        *model,
                      const char           *to,
                      GCancellable         *cancellable,
                      GError              **error)
{
  g_autoptr(GPtrArray) names = NULL;
  gboolean done;

  g_return_val_if_fail (self != NULL && model != NULL && to != NULL, FALSE);

  names = vn_genai_folder_list_others (self, model, to, error);
  done = names != NULL;
  for (guint i = 0; done && i < names->len; i++)
    {
      g_autofree char *from = g_build_filename (self->path, g_ptr_array_index (names, i), NULL),
      *target = g_build_filename (to, g_ptr_array_index (names, i), NULL);

      done = vn_genai_folder_copy_file (from, target, cancellable, error);
    }
  return done;
}
