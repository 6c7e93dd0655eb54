/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs that a project lists, and the files that hold what they found. */
#include "vn-project-runs.h"

#include "vn-digest.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-file-hold.h"
#include "vn-i18n.h"
#include "vn-rule-name.h"
#include "vn-run-file.h"
#include "vn-setting.h"
#include "vn-verdict.h"

#include <math.h>
#include <string.h>

#define MAX_ID 64u
#define MOST_PHRASES 3u     /* in the title of a run */

/* ---- what is kept ---- */

typedef enum { KEPT_TEXT, KEPT_PATH, KEPT_TEXTS, KEPT_TIME, KEPT_COUNT, KEPT_NUMBER } KeptKind;

/* Members of the object of a run, behind its id, as they are written, and where they are in VnProjectRun. @optional: not there if
 * it is not known; earlier versions did not write it. */
static const struct
{
  const char *id;
  KeptKind    kind;
  gsize       offset;
  gboolean    optional;
} kept[] = {
#define AT(field) G_STRUCT_OFFSET (VnProjectRun, field)
  { "time", KEPT_TIME, AT (time) },
  { "file", KEPT_PATH, AT (file) },
  { "recipe-digest", KEPT_TEXT, AT (recipe_digest) },
  { "preset", KEPT_TEXT, AT (preset) },
  { "changes", KEPT_TEXTS, AT (changes) },
  { "mean-sqnr", KEPT_NUMBER, AT (figures.mean_db) },
  { "worst-output-sqnr", KEPT_NUMBER, AT (figures.worst_db) },
  { "float-bytes", KEPT_COUNT, AT (figures.float_bytes) },
  { "quantized-bytes", KEPT_COUNT, AT (figures.quantized_bytes) },
  { "verdict", KEPT_TEXT, AT (verdict) },
  { "name", KEPT_TEXT, AT (name), TRUE },
  { "inputs-digest", KEPT_TEXT, AT (inputs_digest), TRUE },
  { "outputs-sqnr", KEPT_NUMBER, AT (figures.outputs_db), TRUE },
  { "accuracy", KEPT_NUMBER, AT (figures.accuracy), TRUE },
  { "integer-share", KEPT_NUMBER, AT (figures.runtime.integer_share), TRUE },
  { "time-ratio", KEPT_NUMBER, AT (figures.runtime.ratio), TRUE },
#undef AT
};

#define KEPT(Type, run, i) G_STRUCT_MEMBER (Type, run, kept[i].offset)

static VnProjectRun *
project_runs_alloc (void)
{
  VnProjectRun *self = g_new0 (VnProjectRun, 1);

  g_atomic_ref_count_init (&self->ref);
  vn_run_figures_init (&self->figures, NULL);
  return self;
}

VnProjectRun *
vn_project_run_ref (VnProjectRun *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_project_run_unref (VnProjectRun *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_free (self->id);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    if (kept[i].kind == KEPT_TEXT || kept[i].kind == KEPT_PATH)
      g_free (KEPT (char *, self, i));
    else if (kept[i].kind == KEPT_TEXTS)
      g_strfreev (KEPT (char **, self, i));
  g_clear_pointer (&self->record, vn_run_unref);
  g_free (self);
}

/**
 * vn_project_run_copy:
 *
 * Returns: (transfer full): the same line, to be saved by another thread: the record is shared
 */
VnProjectRun *
vn_project_run_copy (const VnProjectRun *self)
{
  VnProjectRun *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  g_atomic_ref_count_init (&copy->ref);
  copy->id = g_strdup (self->id);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    if (kept[i].kind == KEPT_TEXT || kept[i].kind == KEPT_PATH)
      KEPT (char *, copy, i) = g_strdup (KEPT (char *, self, i));
    else if (kept[i].kind == KEPT_TEXTS)
      KEPT (char **, copy, i) = g_strdupv (KEPT (char **, self, i));
  copy->record = self->record != NULL ? vn_run_ref (self->record) : NULL;
  return copy;
}

/* ---- a new run ---- */

/**
 * vn_project_run_make_id:
 *
 * Returns: (transfer full): a name that no other run has: the time, and chance for those of the same second
 */
char *
vn_project_run_make_id (void)
{
  g_autoptr(GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%d-%H%M%S");

  return g_strdup_printf ("%s-%06x", time, g_random_int () & 0xffffff);
}

static char **
project_runs_list_changes (const VnRecipe *recipe)
{
  g_autoptr(GPtrArray) differences = vn_recipe_list_differences (recipe);
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new ();

  for (guint i = 0; i < differences->len; i++)
    {
      const VnSettingDifference *difference = g_ptr_array_index (differences, i);
      g_autofree char *text = difference->setting != NULL ? g_strdup_printf ("%s=%s", difference->id, difference->value)
                                                          : g_strdup (difference->value);

      g_strv_builder_add (texts, text);
    }
  return g_strv_builder_end (texts);
}

/* Errors are told of the same samples, by a network that was quantized with the same. */
static char *
project_runs_make_inputs_digest (const VnRun *record)
{
  VnDigest digest = { { 0 } };

  if (record->source_digest == NULL || record->samples_digest == NULL || record->errors == NULL)
    return NULL;
  vn_digest_add_string (&digest, record->source_digest);
  vn_digest_add_string (&digest, record->samples_digest);
  vn_digest_add_number (&digest, record->n_calibration);
  vn_digest_add_number (&digest, record->n_held_out);
  vn_digest_add_number (&digest, vn_error_table_get_n_samples (record->errors));
  return vn_digest_dup_text (&digest);
}

/**
 * vn_project_run_new:
 * @id: of vn_project_run_make_id()
 * @record: what the run found
 *
 * Returns: (transfer full): a line for the list of a project; not saved yet
 */
VnProjectRun *
vn_project_run_new (const char *id,
                    VnRun      *record)
{
  g_autoptr(VnVerdict) verdict = NULL;
  VnProjectRun *self;

  g_return_val_if_fail (id != NULL && record != NULL, NULL);

  verdict = vn_verdict_new (record);
  self = project_runs_alloc ();
  self->id = g_strdup (id);
  self->time = record->time;
  self->recipe_digest = g_strdup (record->recipe_digest);
  self->preset = g_strdup (record->recipe->preset);
  self->changes = project_runs_list_changes (record->recipe);
  self->inputs_digest = project_runs_make_inputs_digest (record);
  self->verdict = g_strdup (verdict->id);
  self->figures = verdict->figures;
  self->record = vn_run_ref (record);
  return self;
}

/**
 * vn_project_run_set_name:
 * @name: (nullable): what the user calls it; without anything but spaces it has none
 */
void
vn_project_run_set_name (VnProjectRun *self,
                         const char   *name)
{
  g_autofree char *text = NULL;

  g_return_if_fail (self != NULL);

  text = name != NULL ? g_strstrip (g_strdup (name)) : NULL;
  g_free (self->name);
  self->name = text != NULL && *text != '\0' ? g_steal_pointer (&text) : NULL;
}

/* As the window calls it; of a newer version, as the file does. */
static const char *
project_runs_get_setting_title (const char *id)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n), *found = vn_setting_find (settings, n, id, NULL);

  return found != NULL ? _(found->title) : id;
}

/* A change in a few words: “Per channel”, “Percentile 99.9”, “head: float”. */
static char *
project_runs_dup_phrase (const char *change)
{
  const char *value = strchr (change, '=');
  VnOverride *rule = *change == '{' ? vn_override_from_json (change, NULL) : NULL;
  g_autofree char *id = NULL, *subject = NULL, *effect = NULL;
  const char *title;

  if (rule != NULL)
    {
      const gboolean on = rule->enabled;

      subject = rule->name != NULL ? g_strdup (rule->name) : rule->tensors != NULL ? vn_rule_name_of_tensors (rule, NULL)
                : vn_override_dup_subject (rule);
      effect = vn_override_dup_effect (rule);
      vn_override_free (rule);
      return on ? g_strdup_printf ("%s: %s", subject, effect) : NULL;
    }
  if (value == NULL || *change == '{')
    return g_strdup (change);
  id = g_strndup (change, (gsize) (value - change));
  title = project_runs_get_setting_title (id);
  if (g_str_equal (value + 1, "true"))
    return g_strdup (title);
  if (g_str_equal (value + 1, "false") || *(value + 1) == '\0')
    return g_strdup_printf (_("%s: off"), title);
  return g_strdup_printf ("%s %s", title, value + 1);
}

/* Rules made together have one name, and are told once. */
static GPtrArray *
project_runs_list_phrases (const VnProjectRun *self)
{
  GPtrArray *phrases = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; self->changes != NULL && self->changes[i] != NULL; i++)
    {
      char *phrase = project_runs_dup_phrase (self->changes[i]);

      if (phrase == NULL || g_ptr_array_find_with_equal_func (phrases, phrase, g_str_equal, NULL))
        g_free (phrase);
      else
        g_ptr_array_add (phrases, phrase);
    }
  return phrases;
}

/**
 * vn_project_run_dup_title:
 *
 * Returns: (transfer full): what the user calls the run, or what its recipe says otherwise than its preset: “Per channel,
 *   Percentile 99.9”; the preset if that is nothing
 */
char *
vn_project_run_dup_title (const VnProjectRun *self)
{
  g_autoptr(GPtrArray) phrases = NULL;
  g_autoptr(GString) text = NULL;
  guint n, n_more;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->name != NULL)
    return g_strdup (self->name);
  phrases = project_runs_list_phrases (self);
  if (phrases->len == 0)
    return g_strdup (self->preset);
  text = g_string_new (NULL);
  n = phrases->len <= MOST_PHRASES ? phrases->len : MOST_PHRASES - 1;
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", (const char *) g_ptr_array_index (phrases, i));
  n_more = phrases->len - n;
  if (n_more > 0)
    g_string_append_printf (text, ngettext (" and %u more", " and %u more", n_more), n_more);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_project_run_dup_time:
 *
 * Returns: (transfer full): when it ended; of another day with the date
 */
char *
vn_project_run_dup_time (const VnProjectRun *self)
{
  g_autoptr(GDateTime) time = NULL, now = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  time = g_date_time_new_from_unix_local (self->time);
  now = g_date_time_new_now_local ();
  if (time == NULL)
    return g_strdup (self->id);
  if (g_date_time_get_year (time) == g_date_time_get_year (now) &&
      g_date_time_get_day_of_year (time) == g_date_time_get_day_of_year (now))
    return g_date_time_format (time, "%X");
  return g_date_time_format (time, "%x %H:%M");
}

/* ---- lists ---- */

GPtrArray *
vn_project_runs_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) vn_project_run_unref);
}

VnProjectRun *
vn_project_runs_find (GPtrArray  *runs,
                      const char *id)
{
  g_return_val_if_fail (runs != NULL && id != NULL, NULL);

  for (guint i = 0; i < runs->len; i++)
    if (g_str_equal (((const VnProjectRun *) g_ptr_array_index (runs, i))->id, id))
      return g_ptr_array_index (runs, i);
  return NULL;
}

/**
 * vn_project_runs_insert:
 * @run: (transfer full): goes behind those that ended before it
 */
void
vn_project_runs_insert (GPtrArray    *runs,
                        VnProjectRun *run)
{
  guint at = 0;

  g_return_if_fail (runs != NULL && run != NULL);

  while (at < runs->len && ((const VnProjectRun *) g_ptr_array_index (runs, at))->time <= run->time)
    at++;
  g_ptr_array_insert (runs, (int) at, run);
}

/* ---- its file ---- */

static char *
project_runs_dup_folder (const char *project)
{
  g_autofree char *whole = g_canonicalize_filename (project, NULL);

  return g_strconcat (whole, VN_PROJECT_RUNS_SUFFIX, NULL);
}

/**
 * vn_project_run_dup_own_path:
 * @project: path of the project
 *
 * Returns: (transfer full): where that project keeps the run
 */
char *
vn_project_run_dup_own_path (const char *id,
                             const char *project)
{
  g_autofree char *folder = NULL, *name = NULL;

  g_return_val_if_fail (id != NULL && project != NULL, NULL);

  folder = project_runs_dup_folder (project);
  name = g_strconcat (id, ".json", NULL);
  return g_build_filename (folder, name, NULL);
}

/**
 * vn_project_run_is_own:
 *
 * Returns: whether the file of the run lies where @project keeps its runs; else it may belong to another project
 */
gboolean
vn_project_run_is_own (const VnProjectRun *self,
                       const char         *project)
{
  g_autofree char *folder = NULL, *path = NULL;

  g_return_val_if_fail (self != NULL && project != NULL, FALSE);

  folder = project_runs_dup_folder (project);
  path = vn_project_run_dup_own_path (self->id, project);
  return self->file != NULL && g_str_equal (self->file, path) && !g_file_test (folder, G_FILE_TEST_IS_SYMLINK);
}

/**
 * vn_project_run_save:
 * @project: path of the project that keeps the run
 *
 * Writes the file of the run, unless it is there.
 *
 * Returns: %FALSE if that failed
 */
gboolean
vn_project_run_save (VnProjectRun  *self,
                     const char    *project,
                     GError       **error)
{
  g_autofree char *whole = NULL, *base = NULL, *folder = NULL, *path = NULL;

  g_return_val_if_fail (self != NULL && project != NULL, FALSE);

  if (self->record == NULL)
    return TRUE;
  whole = g_canonicalize_filename (project, NULL);
  base = g_path_get_dirname (whole);
  folder = project_runs_dup_folder (project);
  path = vn_project_run_dup_own_path (self->id, project);
  if (!vn_file_make_folder (folder, error) || !vn_run_save (self->record, path, base, error))
    return FALSE;
  g_free (self->file);
  self->file = g_steal_pointer (&path);
  g_clear_pointer (&self->record, vn_run_unref);
  return TRUE;
}

/**
 * vn_project_run_load:
 * @project: path of the project that lists the run
 *
 * Returns: (transfer full) (nullable): all that the run found; or which file cannot be read, and why
 */
VnRun *
vn_project_run_load (const VnProjectRun  *self,
                     const char          *project,
                     GError             **error)
{
  g_autofree char *whole = NULL, *base = NULL;
  VnRun *record;

  g_return_val_if_fail (self != NULL && project != NULL, NULL);

  if (self->record != NULL)
    return vn_run_ref (self->record);
  whole = g_canonicalize_filename (project, NULL);
  base = g_path_get_dirname (whole);
  record = vn_run_load (self->file, base, error);
  if (record != NULL)
    return record;
  g_prefix_error (error, _("the result of the run cannot be read: "));
  return NULL;
}

/**
 * vn_project_run_fetch:
 * @project: path of the project that lists the run
 *
 * Reads what the run found, if @project keeps it, so that another project can save it.
 *
 * Returns: %FALSE if that cannot be read
 */
gboolean
vn_project_run_fetch (VnProjectRun  *self,
                      const char    *project,
                      GError       **error)
{
  g_return_val_if_fail (self != NULL && project != NULL, FALSE);

  if (self->record == NULL && vn_project_run_is_own (self, project))
    self->record = vn_project_run_load (self, project, error);
  else
    return TRUE;
  return self->record != NULL;
}

/* ---- its line in the project ---- */

static void
project_runs_add (const VnProjectRun *self,
                  guint               i,
                  JsonBuilder        *json,
                  const char         *folder)
{
  const char *id = kept[i].id;
  g_autofree char *path = kept[i].kind == KEPT_PATH ? vn_file_dup_short (KEPT (char *, self, i), folder) : NULL;

  if (kept[i].kind == KEPT_NUMBER && (!kept[i].optional || !isnan (KEPT (double, self, i))))
    vn_json_add_number (json, id, KEPT (double, self, i));
  else if (kept[i].kind == KEPT_TEXT && (!kept[i].optional || KEPT (char *, self, i) != NULL))
    vn_json_add_text (json, id, KEPT (char *, self, i));
  else if (kept[i].kind == KEPT_PATH)
    vn_json_add_text (json, id, path);
  else if (kept[i].kind == KEPT_TEXTS)
    vn_json_add_texts (json, id, KEPT (const char * const *, self, i));
  else if (kept[i].kind == KEPT_TIME)
    vn_json_add_time (json, id, KEPT (gint64, self, i));
  else if (kept[i].kind == KEPT_COUNT)
    vn_json_add_int (json, id, (gint64) KEPT (guint64, self, i));
}

static void
project_runs_read (VnProjectRun *self,
                   guint         i,
                   VnJsonFields *fields,
                   const char   *folder)
{
  const char *id = kept[i].id;
  g_autofree char *path = kept[i].kind == KEPT_PATH ? vn_json_fields_dup_text (fields, id) : NULL;

  if (kept[i].kind == KEPT_NUMBER && (!kept[i].optional || vn_json_fields_has (fields, id)))
    KEPT (double, self, i) = vn_json_fields_get_double (fields, id);
  else if (kept[i].kind == KEPT_TEXT)
    KEPT (char *, self, i) = kept[i].optional ? vn_json_fields_dup_text_if (fields, id) : vn_json_fields_dup_text (fields, id);
  else if (kept[i].kind == KEPT_PATH)
    KEPT (char *, self, i) = path != NULL ? vn_file_dup_long (path, folder) : NULL;
  else if (kept[i].kind == KEPT_TEXTS)
    KEPT (char **, self, i) = vn_json_fields_dup_texts (fields, id);
  else if (kept[i].kind == KEPT_TIME)
    KEPT (gint64, self, i) = vn_json_fields_get_time (fields, id);
  else if (kept[i].kind == KEPT_COUNT)
    KEPT (guint64, self, i) = vn_json_fields_get_count (fields, id, G_MAXINT64);
}

/**
 * vn_project_run_to_json:
 * @folder: of the project
 *
 * Returns: (transfer full): an object that vn_project_run_from_json() makes an equal line of
 */
JsonNode *
vn_project_run_to_json (const VnProjectRun *self,
                        const char         *folder)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();

  g_return_val_if_fail (self != NULL && self->file != NULL && folder != NULL, NULL);

  json_builder_begin_object (json);
  vn_json_add_text (json, "id", self->id);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    project_runs_add (self, i, json, folder);
  json_builder_end_object (json);
  return json_builder_get_root (json);
}

/* An id is a part of a file's name. */
static gboolean
project_runs_is_id (const char *id)
{
  gsize n = strlen (id);

  return n > 0 && n <= MAX_ID && strspn (id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == n;
}

/**
 * vn_project_run_from_json:
 * @fields: of a run; what is wrong is said there
 * @folder: of the project
 *
 * Returns: (transfer full) (nullable): the line; %NULL with a fault in @fields
 */
VnProjectRun *
vn_project_run_from_json (VnJsonFields *fields,
                          const char   *folder)
{
  g_autoptr(VnProjectRun) self = NULL;

  g_return_val_if_fail (fields != NULL, NULL);

  self = project_runs_alloc ();
  self->id = vn_json_fields_dup_text (fields, "id");
  if (self->id != NULL && !project_runs_is_id (self->id))
    vn_json_fields_fail (fields, "id", _("is “%s”; up to %u letters, digits, “-” and “_” are allowed"), self->id, MAX_ID);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    project_runs_read (self, i, fields, folder);
  return fields->error == NULL ? g_steal_pointer (&self) : NULL;
}
