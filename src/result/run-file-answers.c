/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs as JSON: what is kept of the answers to each sample, in figures. */
#include "run-file-private.h"

#include <math.h>

void
_vn_run_file_add_answers (JsonBuilder *json,
                          GPtrArray   *answers)
{
  json_builder_begin_array (json);
  for (guint i = 0; i < answers->len; i++)
    {
      const VnSampleAnswer *answer = g_ptr_array_index (answers, i);

      json_builder_begin_object (json);
      vn_json_add_text_if (json, "sample", answer->name);
      vn_json_add_int (json, "index", answer->sample);
      vn_json_add_text (json, "task", vn_task_get_id (answer->kept.task));
      vn_json_add_int (json, "of", (gint64) answer->kept.n);
      vn_json_add_int (json, "kept", (gint64) answer->kept.n_kept);
      vn_json_add_int (json, "added", (gint64) answer->kept.n_added);
      _vn_run_file_add_number (json, "share", answer->kept.share);
      _vn_run_file_add_number (json, "mean", answer->kept.mean);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* A task that this program does not know is told of by another. */
static void
run_file_read_answer (gpointer      to,
                      VnJsonFields *fields)
{
  g_autofree char *name = vn_json_fields_dup_text_if (fields, "sample"), *task = vn_json_fields_dup_text (fields, "task");
  const guint sample = (guint) vn_json_fields_get_count (fields, "index", G_MAXUINT);
  VnKept kept = { .n_samples = 1 };
  VnSampleAnswer *answer;

  kept.n = vn_json_fields_get_count (fields, "of", G_MAXINT64);
  kept.n_kept = vn_json_fields_get_count (fields, "kept", kept.n);
  kept.n_added = vn_json_fields_get_count (fields, "added", G_MAXINT64);
  kept.share = _vn_run_file_get_number (fields, "share");
  kept.mean = _vn_run_file_get_number (fields, "mean");
  if (task == NULL || !vn_task_find (task, &kept.task))
    return;
  answer = vn_sample_answer_new (sample, &kept);
  answer->name = g_steal_pointer (&name);
  g_ptr_array_add (to, answer);
}

GPtrArray *
_vn_run_file_read_answers (VnJsonFields *parent,
                           const char   *id)
{
  GPtrArray *answers = vn_sample_answers_new ();

  _vn_run_file_read_each (parent, id, run_file_read_answer, answers);
  return answers;
}
