/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model: opset imports, metadata and functions around the main graph. */
#include "vn-model.h"

#include "vn-file.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"

static void
model_opset_clear (gpointer data)
{
  g_free (((VnOpset *) data)->domain);
}

static void
model_function_free (gpointer data)
{
  VnFunction *self = data;

  g_free (self->domain);
  g_free (self->name);
  g_free (self->overload);
  g_clear_pointer (&self->body, vn_graph_free);
  g_clear_pointer (&self->attr_names, g_ptr_array_unref);
  g_clear_pointer (&self->attr_defaults, g_ptr_array_unref);
  g_clear_pointer (&self->opsets, g_array_unref);
  g_free (self->doc);
  g_clear_pointer (&self->extra, g_bytes_unref);
  g_free (self);
}

/**
 * vn_model_new:
 * @opset: version of ai.onnx to import; 0: import nothing
 *
 * Returns: (transfer full): a model with an empty graph
 */
VnModel *
vn_model_new (gint64 ir_version,
              gint64 opset)
{
  VnModel *self = g_new0 (VnModel, 1);

  g_atomic_ref_count_init (&self->ref);
  self->ir_version = ir_version;
  self->opsets = g_array_new (FALSE, TRUE, sizeof (VnOpset));
  g_array_set_clear_func (self->opsets, model_opset_clear);
  self->functions = g_ptr_array_new_with_free_func (model_function_free);
  self->metadata = g_ptr_array_new_with_free_func (g_free);
  self->files = g_ptr_array_new_with_free_func (g_free);
  self->maps = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  self->notes = vn_notes_new ();
  self->graph = vn_graph_new (self, NULL, NULL);
  if (opset > 0)
    vn_model_set_opset (self, "", opset);
  return self;
}

/**
 * vn_model_add_files:
 * @set: told that the files of @self are read
 */
void
vn_model_add_files (const VnModel *self,
                    VnFileSet     *set)
{
  g_return_if_fail (self != NULL);

  vn_file_set_reads (set, self->path, _("the model itself"));
  for (guint i = 0; i < self->files->len; i++)
    vn_file_set_reads (set, g_ptr_array_index (self->files, i), _("a file with weights of the model"));
}

/**
 * vn_model_check_files:
 *
 * Weights are read from the files whenever they are needed: to be called before something is kept that was made of them.
 *
 * Returns: %FALSE with %G_FILE_ERROR_IO if somebody wrote into a file of @self since it was opened
 */
gboolean
vn_model_check_files (const VnModel  *self,
                      GError        **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->maps->len; i++)
    if (!vn_file_check_map (g_ptr_array_index (self->maps, i), FALSE, error))
      return FALSE;
  return TRUE;
}

/**
 * vn_model_is_current:
 *
 * Returns: %FALSE if there are other bytes now where @self was read from
 */
gboolean
vn_model_is_current (const VnModel *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->maps->len; i++)
    if (!vn_file_is_current (g_ptr_array_index (self->maps, i)))
      return FALSE;
  return TRUE;
}

VnModel *
vn_model_ref (VnModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_model_unref (VnModel *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->graph, vn_graph_free);
  g_ptr_array_unref (self->functions);
  g_ptr_array_unref (self->metadata);
  g_array_unref (self->opsets);
  vn_notes_unref (self->notes);
  g_clear_object (&self->backend);
  g_free (self->producer_name);
  g_free (self->producer_version);
  g_free (self->domain);
  g_free (self->doc);
  g_free (self->path);
  g_ptr_array_unref (self->files);
  g_ptr_array_unref (self->maps);
  g_clear_pointer (&self->extra, g_bytes_unref);
  g_free (self);
}

static const char *
model_normal_domain (const char *domain)
{
  return g_str_equal (domain, "ai.onnx") ? "" : domain;
}

/**
 * vn_model_get_opset:
 * @domain: "" (or its alias "ai.onnx") for the standard operators
 *
 * Returns: the imported version (the largest, if listed twice), 0 if the domain is not imported
 */
gint64
vn_model_get_opset (const VnModel *self,
                    const char    *domain)
{
  gint64 version = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->opsets->len; i++)
    {
      const VnOpset *opset = &g_array_index (self->opsets, VnOpset, i);

      if (g_str_equal (model_normal_domain (opset->domain), model_normal_domain (domain)))
        version = MAX (version, opset->version);
    }
  return version;
}

/**
 * vn_model_set_opset:
 *
 * Sets the version everywhere the domain is listed, or adds it. Nodes are not converted.
 */
void
vn_model_set_opset (VnModel    *self,
                    const char *domain,
                    gint64      version)
{
  gboolean found = FALSE;

  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->opsets->len; i++)
    {
      VnOpset *opset = &g_array_index (self->opsets, VnOpset, i);

      if (g_str_equal (model_normal_domain (opset->domain), model_normal_domain (domain)))
        {
          opset->version = version;
          found = TRUE;
        }
    }
  if (!found)
    {
      VnOpset opset = { g_strdup (domain), version };

      g_array_append_val (self->opsets, opset);
    }
}

const char *
vn_model_get_metadata (const VnModel *self,
                       const char    *key)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i + 1 < self->metadata->len; i += 2)
    if (g_strcmp0 (g_ptr_array_index (self->metadata, i), key) == 0)
      return g_ptr_array_index (self->metadata, i + 1);
  return NULL;
}

/**
 * vn_model_find_function:
 *
 * Returns: (transfer none) (nullable): the model-local function that defines the operator
 */
VnFunction *
vn_model_find_function (const VnModel *self,
                        const char    *domain,
                        const char    *name)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < self->functions->len; i++)
    {
      VnFunction *function = g_ptr_array_index (self->functions, i);

      if (g_strcmp0 (function->name, name) == 0 &&
          g_str_equal (model_normal_domain (function->domain != NULL ? function->domain : ""), model_normal_domain (domain)))
        return function;
    }
  return NULL;
}
