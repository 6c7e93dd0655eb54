/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file beside an export that tells the tool of its target which layers most of the error comes from. What is exported in
 * float has no error: it is quantized once more, as the tool is assumed to do it, to see where that starts. */
#include "vn-layer-file.h"

#include "vn-export-job.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-jobs.h"

#include <string.h>

/* Names in a note; the file has all of them. */
#define MOST_NAMES 3

/**
 * vn_layer_file_new:
 * @exported: (transfer none): a run with its networks
 * @model_path: where its model goes
 * @n_threads: for measuring; 0: all processors
 *
 * Returns: (transfer full) (nullable): %NULL: the tool of its target is told nothing, or nothing was to be measured
 */
VnLayerFile *
vn_layer_file_new (VnRun      *exported,
                   const char *model_path,
                   guint       n_threads)
{
  const VnLayerList *list;
  VnLayerFile *self;

  g_return_val_if_fail (exported != NULL && model_path != NULL, NULL);

  list = exported->recipe != NULL ? vn_layer_list_of (vn_recipe_get_target (exported->recipe)) : NULL;
  if (list == NULL || exported->source == NULL || exported->quantized == NULL || exported->data == NULL ||
      exported->settings.skip_compare)
    return NULL;
  self = g_new0 (VnLayerFile, 1);
  *self = (VnLayerFile) { .list = list, .exported = vn_run_ref (exported), .path = vn_layer_list_dup_path (list, model_path),
                          .n_threads = n_threads };
  /* tools that quantize the float model are not given our export */
  self->model = list->like != NULL ? g_path_get_basename (model_path)
                : g_path_get_basename (exported->source->path != NULL ? exported->source->path : model_path);
  if (list->like == NULL && exported->contributions != NULL)
    vn_layer_file_take (self, exported);
  return self;
}

void
vn_layer_file_free (VnLayerFile *self)
{
  vn_run_unref (self->exported);
  g_clear_pointer (&self->layers, g_ptr_array_unref);
  g_free (self->path);
  g_free (self->model);
  g_free (self);
}

/**
 * vn_layer_file_new_job:
 *
 * Returns: (transfer full) (nullable): the job whose run vn_layer_file_take() needs; %NULL: which layers they are is known, or
 *   was not measured in the run of the export, which has an error to be measured
 */
VnJob *
vn_layer_file_new_job (VnLayerFile *self)
{
  g_autoptr(VnRecipe) like = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  like = self->layers == NULL ? vn_layer_list_dup_like (self->list, self->exported->recipe) : NULL;
  if (like == NULL)
    return NULL;
  return vn_quantize_job_new (&(VnQuantizeSettings) {
    .model = self->exported->source, .data = self->exported->data, .recipe = like,
    .input_shapes = self->exported->settings.shapes, .n_calibration = self->exported->settings.n_calibration,
    .n_threads = self->n_threads, .origins = TRUE,
  });
}

/**
 * vn_layer_file_take:
 * @measured: of vn_layer_file_new_job()
 */
void
vn_layer_file_take (VnLayerFile *self,
                    VnRun       *measured)
{
  g_return_if_fail (self != NULL && measured != NULL);

  g_clear_pointer (&self->layers, g_ptr_array_unref);
  self->layers = vn_layer_list_find (self->list, self->exported, measured);
}

static gboolean
layer_file_tells (const VnListedLayer *layer)
{
  return layer->is_chosen && layer->name != NULL;
}

/**
 * vn_layer_file_count:
 *
 * Returns: chosen layers that have a name the tool can be told; 0: there is nothing to be written
 */
guint
vn_layer_file_count (VnLayerFile *self)
{
  guint n = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; self->layers != NULL && i < self->layers->len; i++)
    n += layer_file_tells (g_ptr_array_index (self->layers, i));
  return n;
}

/**
 * vn_layer_file_note:
 * @notes: get what the file tells, or that there is none
 */
void
vn_layer_file_note (VnLayerFile *self,
                    VnNotes     *notes)
{
  g_autoptr(GString) names = g_string_new (NULL);
  guint n, told = 0;

  g_return_if_fail (self != NULL && notes != NULL);

  n = vn_layer_file_count (self);
  for (guint i = 0; n > 0 && i < self->layers->len && told < MOST_NAMES; i++)
    {
      const VnListedLayer *layer = g_ptr_array_index (self->layers, i);

      if (layer_file_tells (layer))
        g_string_append_printf (names, "%s%s", told++ > 0 ? ", " : "", layer->name);
    }
  if (self->layers == NULL)
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_LAYERS, self->list->tool,
                  _("With “--origins”, a list of the layers that half of the error comes from is written for this tool"));
  else if (n == 0)
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_LAYERS, self->list->tool,
                  _("No list of sensitive layers was written: the nodes have no names"));
  else
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_LAYERS, self->list->tool,
                  ngettext ("“%s” lists the %u layer that half of the error comes from: %s%s",
                            "“%s” lists the %u layers that half of the error comes from: %s%s", n),
                  self->path, n, names->str, n > told ? ", …" : "");
}

/* ---- writing ---- */

static gboolean
layer_file_measure (VnLayerFile   *self,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autoptr(VnJob) job = vn_layer_file_new_job (self);

  if (job == NULL)
    return TRUE;
  if (!vn_job_run (job, cancellable, error))
    return FALSE;
  vn_layer_file_take (self, vn_quantize_job_get_result (job));
  return TRUE;
}

static gboolean
layer_file_write (gpointer       data,
                  const char    *path,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnLayerFile *self = data;
  g_autofree char *text = NULL;

  if (!layer_file_measure (self, cancellable, error))
    return FALSE;
  text = vn_layer_list_print (self->list, self->layers, self->model);
  return vn_file_write_all (path, text, strlen (text), error);
}

/**
 * vn_layer_file_add:
 * @export: of vn_export_job_new(), before it runs: writes the file, too; measures first where that was not done
 * @destroy: (nullable): frees @self, with the job; %NULL: it outlives that
 */
void
vn_layer_file_add (VnLayerFile    *self,
                   VnJob          *export,
                   GDestroyNotify  destroy)
{
  g_return_if_fail (self != NULL && export != NULL);

  vn_export_job_add_file (export, self->path, _("the list of layers"), layer_file_write, self, destroy);
}
