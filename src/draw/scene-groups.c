/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scene and groups of a large model, made on a worker thread. */
#include "vn-scene-builder.h"

typedef struct { VnScene *scene; VnGroups *groups; } Made;

static void
scene_groups_free (gpointer data)
{
  Made *made = data;

  vn_scene_unref (made->scene);
  vn_groups_unref (made->groups);
  g_free (made);
}

static void
scene_groups_thread (GTask        *task,
                     gpointer      source_object,
                     gpointer      task_data,
                     GCancellable *cancellable)
{
  Made *made = g_new0 (Made, 1);

  made->scene = vn_scene_build (task_data, NULL);
  made->groups = vn_groups_new (made->scene);
  g_task_return_pointer (task, made, scene_groups_free);
}

/**
 * vn_scene_build_grouped_async:
 * @model: must not be edited meanwhile
 * @callback: called on the calling thread's main context
 *
 * Makes scene and groups of a model without a result.
 */
void
vn_scene_build_grouped_async (VnModel             *model,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);

  g_return_if_fail (model != NULL);

  g_task_set_source_tag (task, vn_scene_build_grouped_async);
  g_task_set_task_data (task, vn_model_ref (model), (GDestroyNotify) vn_model_unref);
  g_task_run_in_thread (task, scene_groups_thread);
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
  Made *made;
  VnScene *scene;

  g_return_val_if_fail (G_IS_TASK (result) && groups != NULL, NULL);

  made = g_task_propagate_pointer (G_TASK (result), error);
  if (made == NULL)
    return NULL;
  scene = vn_scene_ref (made->scene);
  *groups = vn_groups_ref (made->groups);
  scene_groups_free (made);
  return scene;
}
