/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A layout that is made on a worker thread. */
#include "vn-graph-layout.h"

#include "vn-thread.h"

typedef struct { VnScene *scene; double page; } LayoutTask;

static void
layout_free_task (gpointer data)
{
  LayoutTask *task = data;

  vn_scene_unref (task->scene);
  g_free (task);
}

static void
layout_thread (GTask        *task,
               gpointer      source_object,
               gpointer      task_data,
               GCancellable *cancellable)
{
  const LayoutTask *data = task_data;
  GError *error = NULL;
  g_autoptr(VnGraphLayout) layout = vn_graph_layout_new_for_scene (data->scene, cancellable, &error);

  if (layout == NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, vn_graph_layout_wrap (layout, data->page), (GDestroyNotify) vn_graph_layout_unref);
}

/**
 * vn_graph_layout_new_async:
 * @page: as vn_graph_layout_wrap() takes it
 * @callback: called on the calling thread's main context
 *
 * As vn_graph_layout_new_for_scene() and vn_graph_layout_wrap(), on a worker thread.
 */
void
vn_graph_layout_new_async (VnScene             *scene,
                           double               page,
                           GCancellable        *cancellable,
                           GAsyncReadyCallback  callback,
                           gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  LayoutTask *data;

  g_return_if_fail (scene != NULL && page >= 0);

  data = g_new (LayoutTask, 1);
  *data = (LayoutTask) { vn_scene_ref (scene), page };
  g_task_set_source_tag (task, vn_graph_layout_new_async);
  g_task_set_task_data (task, data, layout_free_task);
  vn_thread_run_task (task, layout_thread);
}

/**
 * vn_graph_layout_new_finish:
 *
 * Returns: (transfer full): the layout, or %NULL
 */
VnGraphLayout *
vn_graph_layout_new_finish (GAsyncResult  *result,
                            GError       **error)
{
  g_return_val_if_fail (G_IS_TASK (result), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
