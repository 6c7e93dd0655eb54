/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scene and groups of a large model, made on a worker thread. */
#include "vn-scene-builder.h"
#include "vn-thread.h"

typedef struct
{
  VnModel  *model;
  VnRun *result;    /* nullable */
  VnPairsShown pairs;
  GHashTable *sizes;   /* nullable; not changed any more */
  VnScene  *scene;
  VnGroups *groups;    /* of the scene, or of one of the same geometry */
} Made;

static void
scene_groups_free (gpointer data)
{
  Made *made = data;

  vn_model_unref (made->model);
  g_clear_pointer (&made->result, vn_run_unref);
  g_clear_pointer (&made->sizes, g_hash_table_unref);
  g_clear_pointer (&made->scene, vn_scene_unref);
  g_clear_pointer (&made->groups, vn_groups_unref);
  g_free (made);
}

static void
scene_groups_thread (GTask        *task,
                     gpointer      source_object,
                     gpointer      task_data,
                     GCancellable *cancellable)
{
  Made *made = task_data;

  made->scene = vn_scene_build_sized (made->model, made->result, made->pairs, made->sizes);
  if (made->groups == NULL)
    made->groups = vn_groups_new (made->scene);
  g_task_return_boolean (task, TRUE);
}

/**
 * vn_scene_build_grouped_async:
 * @model: must not be edited meanwhile
 * @result: (nullable): of the model
 * @sizes: (nullable): as vn_scene_build_sized(); must not change any more
 * @groups: (nullable): of the model with its pairs shown like that, if they are known already
 * @callback: called on the calling thread's main context
 *
 * Makes scene and groups of a model.
 */
void
vn_scene_build_grouped_async (VnModel             *model,
                              VnRun               *result,
                              VnPairsShown         pairs,
                              GHashTable          *sizes,
                              VnGroups            *groups,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  Made *made;

  g_return_if_fail (model != NULL);

  made = g_new0 (Made, 1);
  made->model = vn_model_ref (model);
  made->result = result != NULL ? vn_run_ref (result) : NULL;
  made->pairs = pairs;
  made->sizes = sizes != NULL ? g_hash_table_ref (sizes) : NULL;
  made->groups = groups != NULL ? vn_groups_ref (groups) : NULL;
  g_task_set_source_tag (task, vn_scene_build_grouped_async);
  g_task_set_task_data (task, made, scene_groups_free);
  vn_thread_run_task (task, scene_groups_thread);
}

/**
 * vn_scene_build_grouped_finish:
 * @groups: (out) (transfer full): of the scene
 *
 * Returns: (transfer full): the scene; %NULL if it was cancelled
 */
VnScene *
vn_scene_build_grouped_finish (GAsyncResult  *result,
                               VnGroups     **groups,
                               GError       **error)
{
  const Made *made;

  g_return_val_if_fail (G_IS_TASK (result) && groups != NULL, NULL);

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return NULL;
  made = g_task_get_task_data (G_TASK (result));
  *groups = vn_groups_ref (made->groups);
  return vn_scene_ref (made->scene);
}
