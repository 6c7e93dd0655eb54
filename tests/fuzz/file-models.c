/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks, and files with their weights. */
#include "file-kinds.h"

#include "vn-jobs.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-plan.h"
#include "vn-validate.h"

#include <glib/gstdio.h>
#include <string.h>

static VnModel *
read_model (const guint8 *data,
            gsize         size,
            const char   *path)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  g_autoptr(GError) error = NULL;
  VnModel *model = vn_onnx_read_bytes (bytes, path, &error);

  check (model != NULL, &error);
  return model;
}

/* What is written can be read. */
static VnModel *
write_and_read (const VnModel *model)
{
  g_autoptr(VnModel) copy = vn_model_copy (model);
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) written = vn_onnx_write_bytes (copy, &error);
  VnModel *again;

  if (written == NULL)
    g_error ("what was read cannot be written: %s", error->message);
  again = vn_onnx_read_bytes (written, NULL, &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s", error->message);
  return again;
}

gboolean
try_model (const guint8 *data,
           gsize         size)
{
  g_autoptr(VnModel) model = read_model (data, size, NULL), again = NULL;
  g_autoptr(GError) error = NULL;

  if (model == NULL)
    return FALSE;
  again = write_and_read (model);
  check (vn_model_validate (again, VN_VALIDATE_CONTENTS, again->notes, &error), &error);
  return TRUE;
}

gboolean
try_text (const guint8 *data,
          gsize         size)
{
  return try_model (data, size);
}

/* As before quantizing, or with every pass there is. */
static void
prepare (const VnModel *model,
         gboolean       everything)
{
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);
  g_autofree const char **ids = g_new0 (const char *, n + 1);
  VnPrepareOptions options = { .target_opset = everything ? 21 : 17, .optimize = everything,
                               .passes = everything ? (const char * const *) ids : NULL };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) prepared = NULL;

  for (guint i = 0; i < n; i++)
    ids[i] = passes[i]->id;
  prepared = vn_prepare_model_with (model, &options, NULL, NULL, NULL, &error);
  if (check (prepared != NULL, &error) && !vn_model_validate (prepared, VN_VALIDATE_STRUCTURE, NULL, &error))
    g_error ("what was prepared is not valid: %s", error->message);
}

gboolean
try_prepare (const guint8 *data,
             gsize         size)
{
  g_autoptr(VnModel) model = read_model (data, size, NULL), again = NULL;

  if (model == NULL)
    return FALSE;
  again = write_and_read (model);
  vn_model_validate (again, VN_VALIDATE_CONTENTS, again->notes, NULL);
  prepare (again, FALSE);
  prepare (again, TRUE);
  return TRUE;
}

gboolean
try_plan (const guint8 *data,
          gsize         size)
{
  g_autoptr(VnModel) model = read_model (data, size, NULL), runnable = NULL;
  g_autoptr(GError) error = NULL;

  if (model == NULL || !check (vn_model_validate (model, VN_VALIDATE_CONTENTS, model->notes, &error), &error))
    return FALSE;
  check (vn_model_infer_types (model, NULL, model->notes, &error), &error);
  g_clear_error (&error);
  runnable = vn_model_to_runnable (model, NULL, &error);
  if (!check (runnable != NULL, &error))
    return TRUE;
  for (guint i = 0; i < 2; i++)
    {
      const VnPlanOptions options = { .no_fusion = i == 1 };
      g_autoptr(GError) reason = NULL;
      g_autoptr(VnPlan) plan = vn_plan_new (runnable, &options, model->notes, &reason);

      check (plan != NULL, &reason);
    }
  return TRUE;
}

/* ---- weights in other files ---- */

/* A folder with files of weights: 4096 bytes, none, and a folder that is no file; and one to write to. */
static const char *
get_folder (void)
{
  static char *folder;
  g_autofree char *full = NULL, *none = NULL, *inner = NULL, *out = NULL;
  guint8 weights[4096];

  if (folder != NULL)
    return folder;
  for (guint i = 0; i < sizeof weights; i++)
    weights[i] = (guint8) (i * 7 % 60);
  folder = make_folder ();
  full = g_build_filename (folder, "w.bin", NULL);
  none = g_build_filename (folder, "none.bin", NULL);
  inner = g_build_filename (folder, "inner", NULL);
  out = g_build_filename (folder, "out", NULL);
  require (g_file_set_contents (full, (const char *) weights, sizeof weights, NULL) && g_file_set_contents (none, "", 0, NULL) &&
           g_mkdir (inner, 0700) == 0 && g_mkdir (out, 0700) == 0, "no files with weights");
  return folder;
}

static guint
count_files (const char *folder,
             gboolean    remove)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      n++;
      require (!remove || g_unlink (path) == 0, "what was written cannot be removed");
    }
  return n;
}

static void
end_folder (void)
{
  const char *folder = get_folder ();
  g_autofree char *inner = g_build_filename (folder, "inner", NULL), *out = g_build_filename (folder, "out", NULL);

  g_rmdir (inner);
  g_rmdir (out);
  count_files (folder, TRUE);
  g_rmdir (folder);
}

static void
write_weights (const VnModel            *model,
               const char               *out,
               const VnOnnxWriteOptions *options)
{
  g_autofree char *path = g_build_filename (out, "m.onnx", NULL), *before = vn_model_dup_digest (model), *after = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) again = NULL;

  if (!check (vn_onnx_write_file (model, path, options, NULL, &error), &error))
    {
      require (count_files (out, TRUE) == 0, "a failed write leaves files behind");
      return;
    }
  again = vn_onnx_read_file (path, &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s", error->message);
  after = vn_model_dup_digest (again);
  require (g_str_equal (before, after), "other weights are read than were written");
  count_files (out, TRUE);
}

gboolean
try_external (const guint8 *data,
              gsize         size)
{
  static gboolean at_exit;
  const char *folder = get_folder ();
  g_autofree char *path = g_build_filename (folder, "m.onnx", NULL), *out = g_build_filename (folder, "out", NULL);
  g_autoptr(VnModel) model = NULL;

  if (!at_exit)
    at_exit = atexit (end_folder) == 0;
  model = read_model (data, size, path);
  if (model == NULL)
    return FALSE;
  write_weights (model, out, &(VnOnnxWriteOptions) { .external_threshold = 1 });
  write_weights (model, out, &(VnOnnxWriteOptions) { .external_threshold = 1, .external_each = TRUE });
  require (count_files (folder, FALSE) == 4, "something was written beside the folder");
  return TRUE;
}
