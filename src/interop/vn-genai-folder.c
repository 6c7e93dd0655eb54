/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of onnxruntime-genai: which network is in one, and copies of what lies beside it. */
#include "vn-genai-folder.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json-fields.h"
#include "vn-json.h"

#include <string.h>

#define CONFIG "genai_config.json"

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

  config = g_build_filename (path, CONFIG, NULL);
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

  config = g_build_filename (path, CONFIG, NULL);
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
  self->path = g_strdup (path);
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

/* ---- what comes along ---- */

static gboolean
genai_folder_is_of_model (const VnGenaiFolder *self,
                          const VnModel       *model,
                          const char          *name)
{
  if (g_str_equal (name, self->name))
    return TRUE;
  for (guint i = 0; i < model->files->len; i++)
    {
      g_autofree char *own = g_path_get_basename (g_ptr_array_index (model->files, i));

      if (g_str_equal (own, name))
        return TRUE;
    }
  return FALSE;
}

/* Returns: (transfer full) (nullable) (element-type filename): names of the files beside the network, not of folders in there */
static GPtrArray *
genai_folder_list_others (const VnGenaiFolder  *self,
                          const VnModel        *model,
                          GError              **error)
{
  g_autoptr(GDir) dir = g_dir_open (self->path, 0, error);
  GPtrArray *names;
  const char *name;

  if (dir == NULL)
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (self->path, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR) && !genai_folder_is_of_model (self, model, name))
        g_ptr_array_add (names, g_strdup (name));
    }
  return names;
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

  names = genai_folder_list_others (self, model, error);
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *from = g_build_filename (self->path, name, NULL);

      vn_file_set_reads (files, from, _("a file of the language model"));
      vn_file_set_writes_in (files, to, name, _("a file of the language model"));
    }
  return names != NULL;
}

static gboolean
genai_folder_copy_file (const char    *from,
                        const char    *to,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_autoptr(GBytes) bytes = vn_file_map (from, error);
  g_autoptr(VnFileWriter) writer = bytes != NULL ? vn_file_writer_new (to, error) : NULL;
  gsize size = 0;
  const guint8 *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

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

  names = genai_folder_list_others (self, model, error);
  done = names != NULL;
  for (guint i = 0; done && i < names->len; i++)
    {
      g_autofree char *from = g_build_filename (self->path, g_ptr_array_index (names, i), NULL),
      *target = g_build_filename (to, g_ptr_array_index (names, i), NULL);

      done = genai_folder_copy_file (from, target, cancellable, error);
    }
  return done;
}
