/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bench: model, samples, recipe and runs, and signals for whoever shows them. */
#include "bench-private.h"

#include "vn-drop.h"
#include "vn-i18n.h"

#include <string.h>

/* What changes of these is kept in the project. */
#define KEPT_CHANGES (VN_CHANGED_DATA | VN_CHANGED_RECIPE)

enum { SIGNAL_CHANGED, SIGNAL_WORK, SIGNAL_NOTICE, N_SIGNALS };

static guint signals[N_SIGNALS];

/* In the order in which they are told. */
static const struct { guint what; const char *detail; } changes[] = {
  { VN_CHANGED_MODEL, "model" },
  { VN_CHANGED_DATA, "data" },
  { VN_CHANGED_RECIPE, "recipe" },
  { VN_CHANGED_RUN, "run" },
  { VN_CHANGED_EXPECTED, "expected" },
  { VN_CHANGED_OFFERED, "offered" },
  { VN_CHANGED_RUNS, "runs" },
  { VN_CHANGED_FILES, "files" },
  { VN_CHANGED_COVERAGE, "coverage" },
  { VN_CHANGED_NOTES, "notes" },
};

static const char * const notice_details[VN_N_NOTICES] = { "failed", "canceled", "done", "report", "left", "written" };

typedef struct
{
  gpointer       data;
  GDestroyNotify unref;
} LetGo;

G_DEFINE_TYPE (VnBench, vn_bench, G_TYPE_OBJECT)

static void
bench_clear_shown (VnBenchShown *shown)
{
  vn_drop_large (g_steal_pointer (&shown->run), (GDestroyNotify) vn_run_unref);
  vn_drop_large (g_steal_pointer (&shown->past), (GDestroyNotify) vn_run_unref);
  vn_drop_large (g_steal_pointer (&shown->expected), (GDestroyNotify) vn_run_unref);
  g_clear_pointer (&shown->run_subject, vn_subject_unref);
  g_clear_pointer (&shown->past_subject, vn_subject_unref);
  g_clear_pointer (&shown->refusal, g_free);
}

static void
vn_bench_dispose (GObject *object)
{
  VnBench *self = VN_BENCH (object);

  self->waiting.quantize = FALSE;
  if (self->looking != NULL)
    g_cancellable_cancel (self->looking);
  g_clear_object (&self->looking);
  g_clear_pointer (&self->works, vn_works_free);
  g_clear_pointer (&self->outlook, vn_outlook_free);
  g_clear_pointer (&self->coverages, vn_coverages_free);
  g_clear_pointer (&self->keeper, vn_keeper_free);
  g_clear_pointer (&self->files, vn_file_watch_free);
  bench_clear_shown (&self->shown);
  g_clear_pointer (&self->found.effects, g_ptr_array_unref);
  g_clear_pointer (&self->found.curve, vn_curve_unref);
  g_clear_object (&self->found.improved);
  g_clear_pointer (&self->runs, vn_run_list_free);
  g_clear_pointer (&self->opening.project, vn_project_free);
  g_clear_pointer (&self->opening.path, g_free);
  g_clear_pointer (&self->opening.demo, g_free);
  vn_drop_large (g_steal_pointer (&self->subject), (GDestroyNotify) vn_subject_unref);
  g_clear_pointer (&self->folder, vn_genai_folder_free);
  g_clear_pointer (&self->found.sizes, g_hash_table_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_clear_pointer (&self->history, vn_history_free);
  g_clear_pointer (&self->telling.let_go, g_array_unref);
  g_clear_pointer (&self->batch, g_free);
  G_OBJECT_CLASS (vn_bench_parent_class)->dispose (object);
}

static void
bench_emit_changes (VnBench *self,
                    guint    what)
{
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    if (what & changes[i].what)
      g_signal_emit (self, signals[SIGNAL_CHANGED], g_quark_from_static_string (changes[i].detail));
  if (what & VN_CHANGED_WORK)
    g_signal_emit (self, signals[SIGNAL_WORK], 0);
}

static void
vn_bench_class_init (VnBenchClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_bench_dispose;
  klass->change = bench_emit_changes;
  signals[SIGNAL_CHANGED] = g_signal_new ("changed", VN_TYPE_BENCH, G_SIGNAL_RUN_LAST | G_SIGNAL_DETAILED, 0, NULL, NULL, NULL,
                                          G_TYPE_NONE, 0);
  signals[SIGNAL_WORK] = g_signal_new ("work-changed", VN_TYPE_BENCH, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SIGNAL_NOTICE] = g_signal_new ("notice", VN_TYPE_BENCH, G_SIGNAL_RUN_LAST | G_SIGNAL_DETAILED, 0, NULL, NULL, NULL,
                                         G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
bench_files_changed (gpointer self)
{
  vn_bench_changed (self, VN_CHANGED_FILES);
}

static void
bench_covered (gpointer self)
{
  vn_bench_changed (self, VN_CHANGED_COVERAGE);
}

static void
vn_bench_init (VnBench *self)
{
  self->subject = vn_subject_new (NULL, NULL, VN_BENCH_SAMPLES);
  self->recipe = vn_recipe_new (NULL);
  self->history = vn_history_new ();
  self->runs = vn_run_list_new ();
  self->found.effects = vn_effects_new ();
  self->outlook = vn_outlook_new (G_OBJECT (self), &vn_bench_outlook_funcs);
  self->coverages = vn_coverages_new (G_OBJECT (self), bench_covered);
  self->works = vn_works_new (G_OBJECT (self), &vn_bench_works_funcs);
  self->keeper = vn_keeper_new (G_OBJECT (self), &vn_bench_keeper_funcs);
  self->files = vn_file_watch_new (bench_files_changed, self);
  self->telling.let_go = g_array_new (FALSE, FALSE, sizeof (LetGo));
}

/**
 * vn_bench_new:
 *
 * Returns: (transfer full): a bench with no model
 */
VnBench *
vn_bench_new (void)
{
  return g_object_new (VN_TYPE_BENCH, NULL);
}

/**
 * vn_bench_set_usual:
 * @preset: (nullable): of the recipe that it begins with; %NULL, or one that there is not: the usual one
 * @n_samples: to use; 0: all
 *
 * To be called before anything is opened.
 */
void
vn_bench_set_usual (VnBench    *self,
                    const char *preset,
                    guint       n_samples)
{
  g_return_if_fail (VN_IS_BENCH (self) && self->subject->model == NULL);

  vn_recipe_free (self->recipe);
  self->recipe = vn_recipe_new (preset != NULL && vn_preset_find (preset, NULL) != NULL ? preset : NULL);
  vn_subject_unref (self->subject);
  self->subject = vn_subject_new (NULL, NULL, n_samples);
}

/* ---- telling ---- */

/* That nothing is expected, as before, is no news. */
static guint
bench_take_news (VnBench *self)
{
  const VnBenchShown *shown = &self->shown;
  gboolean expects = vn_outlook_is_asked (self->outlook) || shown->refusal != NULL || shown->expected != NULL ||
                     shown->past != NULL;
  guint what = self->telling.what;

  if (!expects && !self->telling.expects)
    what &= ~(guint) VN_CHANGED_EXPECTED;
  if (what & VN_CHANGED_EXPECTED)
    self->telling.expects = expects;
  self->telling.what = 0;
  return what;
}

static void
bench_flush_changes (VnBench *self)
{
  while (self->telling.what != 0)
    {
      guint what = bench_take_news (self);

      VN_BENCH_GET_CLASS (self)->change (self, what);
    }
  while (self->telling.let_go->len > 0)
    {
      LetGo old = g_array_index (self->telling.let_go, LetGo, self->telling.let_go->len - 1);

      g_array_set_size (self->telling.let_go, self->telling.let_go->len - 1);
      vn_drop_large (old.data, old.unref);
    }
}

/*< private >
 * vn_bench_hold:
 *
 * Nobody is told of changes until vn_bench_release(): each of them once, when all has changed.
 */
void
vn_bench_hold (VnBench *self)
{
  self->telling.depth++;
}

/*< private >
 * vn_bench_release:
 */
void
vn_bench_release (VnBench *self)
{
  g_return_if_fail (self->telling.depth > 0);

  if (--self->telling.depth == 0)
    bench_flush_changes (self);
}

/*< private >
 * vn_bench_changed:
 * @what: a set of VnChange
 *
 * Has everybody told, now or when nobody holds it.
 */
void
vn_bench_changed (VnBench *self,
                  guint    what)
{
  if (what & KEPT_CHANGES)
    vn_keeper_touch (self->keeper);
  self->telling.what |= what;
  if (self->telling.depth == 0)
    bench_flush_changes (self);
}

/*< private >
 * vn_bench_let_go:
 * @data: (nullable) (transfer full): what was shown; it is freed when everybody has been told of what is shown now
 */
void
vn_bench_let_go (VnBench        *self,
                 gpointer        data,
                 GDestroyNotify  unref)
{
  LetGo old = { data, unref };

  if (data != NULL)
    g_array_append_val (self->telling.let_go, old);
}

/*< private >
 * vn_bench_notify:
 *
 * Tells it at once.
 */
void
vn_bench_notify (VnBench        *self,
                 const VnNotice *notice)
{
  g_signal_emit (self, signals[SIGNAL_NOTICE], g_quark_from_static_string (notice_details[notice->kind]), notice);
}

/**
 * vn_bench_report_error:
 * @title: what has failed
 *
 * Has it shown by whoever shows the bench.
 */
void
vn_bench_report_error (VnBench      *self,
                       const char   *title,
                       const GError *error)
{
  g_return_if_fail (VN_IS_BENCH (self) && title != NULL && error != NULL);

  vn_bench_notify (self, &(VnNotice) { .kind = VN_NOTICE_FAILED, .text = title, .error = error });
}

/**
 * vn_bench_report:
 * @text: one sentence for the user
 *
 * Has it shown by whoever shows the bench.
 */
void
vn_bench_report (VnBench    *self,
                 const char *text)
{
  g_return_if_fail (VN_IS_BENCH (self));
  g_return_if_fail (text != NULL);

  vn_bench_notify (self, &(VnNotice) { .kind = VN_NOTICE_REPORT, .text = text });
}

/* ---- what there is ---- */

VnModel *
vn_bench_get_model (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->subject->model;
}

const VnDataSpec *
vn_bench_get_data (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->subject->data;
}

guint
vn_bench_get_n_samples (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), 0);

  return self->subject->n_samples;
}

const VnRecipe *
vn_bench_get_recipe (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->recipe;
}

GPtrArray *
vn_bench_get_runs (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_run_list_get (self->runs);
}

/**
 * vn_bench_lacks_samples:
 *
 * Returns: whether no samples have been chosen although the recipe takes some
 */
gboolean
vn_bench_lacks_samples (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (self->batch != NULL && (self->batch->stats != NULL || self->recipe->ranges != NULL))
    return FALSE;
  return self->subject->data == NULL && vn_recipe_needs_samples (self->recipe);
}

/**
 * vn_bench_look_at_files:
 *
 * Finds out whether the files of the model have changed; "changed::files" tells when that is another answer than before.
 */
void
vn_bench_look_at_files (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  vn_file_watch_look (self->files);
}

/**
 * vn_bench_has_changed_files:
 *
 * Returns: whether there are other bytes now where the model was read from, as far as is known
 */
gboolean
vn_bench_has_changed_files (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  return vn_file_watch_has_changed (self->files);
}

/**
 * vn_bench_set_group_func:
 * @func: (nullable): what the graph calls nodes that it shows as a group
 */
void
vn_bench_set_group_func (VnBench     *self,
                         VnGroupFunc  func,
                         gpointer     data)
{
  g_return_if_fail (VN_IS_BENCH (self));

  self->hooks.group_title = func;
  self->hooks.group_data = data;
}

/**
 * vn_bench_set_picture_func:
 * @func: (nullable): makes pictures of the graph as it is shown
 */
void
vn_bench_set_picture_func (VnBench       *self,
                           VnPictureFunc  func,
                           gpointer       data)
{
  g_return_if_fail (VN_IS_BENCH (self));

  self->hooks.picture = func;
  self->hooks.picture_data = data;
}

/* ---- names of files ---- */

/**
 * vn_bench_dup_title:
 *
 * Returns: (transfer full): the file's name, of a language model that of its folder, or the program's when nothing is open
 */
char *
vn_bench_dup_title (VnBench *self)
{
  const VnModel *model;
  g_autofree char *base = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  model = self->subject->model;
  if (model == NULL)
    return g_strdup (_("Vernier"));
  if (model->path == NULL)
    return g_strdup (model->graph->name != NULL && *model->graph->name != 0 ? model->graph->name : _("Unnamed Model"));
  base = g_path_get_basename (self->folder != NULL ? self->folder->path : model->path);
  return g_filename_display_name (base);
}

/**
 * vn_bench_get_folder:
 *
 * Returns: (transfer none) (nullable): the folder of onnxruntime-genai that the model is the decoder of
 */
const VnGenaiFolder *
vn_bench_get_folder (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->folder;
}

/**
 * vn_bench_dup_file_name:
 * @ending: what follows the model's name: "-quantized.onnx"
 *
 * Returns: (transfer full): a name for a file that is made of the model: "detector-quantized.onnx"
 */
char *
vn_bench_dup_file_name (VnBench    *self,
                        const char *ending)
{
  static const char * const suffixes[] = { ".onnx", ".onnxtxt", ".textproto", ".prototxt", ".pbtxt", ".json" };
  g_autofree char *title = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  title = vn_bench_dup_title (self);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (title, suffixes[i]))
      {
        title[strlen (title) - strlen (suffixes[i])] = '\0';
        break;
      }
  return g_strconcat (title, ending, NULL);
}

/* ---- notes ---- */

static VnNotes *
bench_get_run_notes (VnBench *self)
{
  if (self->shown.past != NULL)
    return self->shown.past->notes;
  return self->shown.run != NULL ? self->shown.run->notes : NULL;
}

static guint
bench_count_notes (VnNotes *notes)
{
  return notes != NULL ? vn_notes_get_n (notes) : 0;
}

/**
 * vn_bench_get_n_notes:
 *
 * Returns: how many findings there are: those of the reader, then those of the last run
 */
guint
vn_bench_get_n_notes (VnBench *self)
{
  const VnModel *model;

  g_return_val_if_fail (VN_IS_BENCH (self), 0);

  model = self->subject->model;
  return (model != NULL ? bench_count_notes (model->notes) : 0) + bench_count_notes (bench_get_run_notes (self));
}

const VnNote *
vn_bench_get_note (VnBench *self,
                   guint    i)
{
  const VnModel *model;
  guint n_reader;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  model = self->subject->model;
  n_reader = model != NULL ? bench_count_notes (model->notes) : 0;
  return i < n_reader ? vn_notes_get (model->notes, i) : vn_notes_get (bench_get_run_notes (self), i - n_reader);
}

/**
 * vn_bench_count_problems:
 *
 * Returns: findings that are warnings or worse
 */
guint
vn_bench_count_problems (VnBench *self)
{
  guint n, problems = 0;

  g_return_val_if_fail (VN_IS_BENCH (self), 0);

  n = vn_bench_get_n_notes (self);
  for (guint i = 0; i < n; i++)
    problems += vn_bench_get_note (self, i)->level != VN_NOTE_INFO;
  return problems;
}
