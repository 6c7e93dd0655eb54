/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of results: what is written is read with every bit, and what is wrong is told with its place. */
#include "vn-run-file.h"

#include "draw-run.h"
#include "vn-error.h"
#include "vn-verdict.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N_RECORDS 300u

/* NaN is NaN, -0 is not 0. */
static gboolean
same_number (double a,
             double b)
{
  return (isnan (a) && isnan (b)) || memcmp (&a, &b, sizeof a) == 0;
}

static void
check_accuracy (const VnAccuracy *a,
                const VnAccuracy *b)
{
  g_assert_cmpuint (a->n, ==, b->n);
  g_assert_cmpuint (a->float_top1, ==, b->float_top1);
  g_assert_cmpuint (a->quant_top1, ==, b->quant_top1);
  g_assert_cmpuint (a->agree, ==, b->agree);
  g_assert_cmpint (a->valid, ==, b->valid);
  g_assert_cmpint (a->kept.task, ==, b->kept.task);
  g_assert_cmpuint (a->kept.n_samples, ==, b->kept.n_samples);
  g_assert_cmpuint (a->kept.n, ==, b->kept.n);
  g_assert_cmpuint (a->kept.n_kept, ==, b->kept.n_kept);
  g_assert_cmpuint (a->kept.n_added, ==, b->kept.n_added);
  g_assert_true (same_number (a->kept.share, b->kept.share));
}

static void
check_row (const VnErrorRow *a,
           const VnErrorRow *b)
{
  g_assert_cmpstr (a->value, ==, b->value);
  g_assert_cmpstr (a->node, ==, b->node);
  g_assert_cmpstr (a->op_type, ==, b->op_type);
  g_assert_true (a->is_output == b->is_output && a->is_last == b->is_last && a->has_local == b->has_local);
  g_assert_true (a->n == b->n && a->n_bad == b->n_bad && a->n_bad_float == b->n_bad_float);
  for (guint k = 0; k < VN_N_METRICS; k++)
    g_assert_true (same_number (vn_metric_get (a, k), vn_metric_get (b, k)));
  g_assert_true (same_number (a->local_db, b->local_db));
  g_assert_true (same_number (a->float_min, b->float_min) && same_number (a->float_max, b->float_max));
  g_assert_true (same_number (a->quant_min, b->quant_min) && same_number (a->quant_max, b->quant_max));
}

static void
check_rows (VnErrorTable *a,
            VnErrorTable *b)
{
  g_assert_cmpuint (vn_error_table_get_n_samples (a), ==, vn_error_table_get_n_samples (b));
  g_assert_cmpuint (vn_error_table_get_n (a), ==, vn_error_table_get_n (b));
  for (guint i = 0; i < vn_error_table_get_n (a); i++)
    check_row (vn_error_table_get (a, i), vn_error_table_get (b, i));
}

static void
check_body (const VnBodyErrors *a,
            const VnBodyErrors *b)
{
  g_assert_cmpstr (a->scope, ==, b->scope);
  g_assert_cmpuint (a->n_float, ==, b->n_float);
  g_assert_cmpuint (a->n_quant, ==, b->n_quant);
  g_assert_cmpuint (a->n_both, ==, b->n_both);
  g_assert_cmpuint (a->n_compared, ==, b->n_compared);
  check_rows (a->errors, b->errors);
}

static void
check_errors (VnErrorTable *a,
              VnErrorTable *b)
{
  check_rows (a, b);
  g_assert_cmpuint (vn_error_table_get_n_bodies (a), ==, vn_error_table_get_n_bodies (b));
  for (guint i = 0; i < vn_error_table_get_n_bodies (a); i++)
    check_body (vn_error_table_get_body (a, i), vn_error_table_get_body (b, i));
  g_assert_cmpuint (vn_error_table_get_n_weights (a), ==, vn_error_table_get_n_weights (b));
  for (guint i = 0; i < vn_error_table_get_n_weights (a); i++)
    check_row (vn_error_table_get_weight (a, i), vn_error_table_get_weight (b, i));
}

static void
check_contributions (VnContributions *a,
                     VnContributions *b)
{
  g_assert_cmpuint (vn_contributions_get_n (a), ==, vn_contributions_get_n (b));
  for (guint i = 0; i < vn_contributions_get_n (a); i++)
    {
      const VnContribution *x = vn_contributions_get (a, i), *y = vn_contributions_get (b, i);

      g_assert_cmpstr (x->name, ==, y->name);
      g_assert_cmpstr (x->node, ==, y->node);
      g_assert_cmpstr (x->value, ==, y->value);
      g_assert_true (x->role == y->role && x->n_samples == y->n_samples);
      g_assert_true (same_number (x->local_db, y->local_db) && same_number (x->alone_db, y->alone_db));
      g_assert_true (same_number (x->share, y->share) && same_number (x->share_error, y->share_error));
    }
}

static void
check_verification (const VnVerification *a,
                    const VnVerification *b)
{
  g_assert_cmpstr (a->version, ==, b->version);
  g_assert_cmpstr (a->refusal, ==, b->refusal);
  g_assert_cmpuint (a->n_samples, ==, b->n_samples);
  g_assert_true (same_number (a->load_seconds, b->load_seconds) && same_number (a->seconds, b->seconds));
  g_assert_true (same_number (a->float_seconds, b->float_seconds) && same_number (a->integer_share, b->integer_share));
  g_assert_true (a->saturates == b->saturates && a->exact_agrees == b->exact_agrees && same_number (a->exact_db, b->exact_db));
  g_assert_cmpuint (a->outputs->len, ==, b->outputs->len);
  for (guint i = 0; i < a->outputs->len; i++)
    {
      const VnVerifiedOutput *x = g_ptr_array_index (a->outputs, i), *y = g_ptr_array_index (b->outputs, i);

      g_assert_cmpstr (x->name, ==, y->name);
      g_assert_true ((x->part == NULL) == (y->part == NULL));
      if (x->part != NULL)
        {
          g_assert_cmpstr (x->part->slices, ==, y->part->slices);
          g_assert_true (x->part->axis == y->part->axis && x->part->is_dead == y->part->is_dead &&
                         same_number (x->part->size, y->part->size));
        }
      g_assert_true (same_number (x->sqnr_db, y->sqnr_db) && same_number (x->our_db, y->our_db));
      g_assert_true (same_number (x->their_db, y->their_db) && same_number (x->largest, y->largest));
    }
}

static void
check_answers (GPtrArray *a,
               GPtrArray *b)
{
  g_assert_cmpuint (a->len, ==, b->len);
  for (guint i = 0; i < a->len; i++)
    {
      const VnSampleAnswer *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);

      g_assert_cmpstr (x->name, ==, y->name);
      g_assert_cmpuint (x->sample, ==, y->sample);
      g_assert_cmpint (x->kept.task, ==, y->kept.task);
      g_assert_true (x->kept.n == y->kept.n && x->kept.n_kept == y->kept.n_kept && x->kept.n_added == y->kept.n_added);
      g_assert_true (same_number (x->kept.share, y->kept.share) && same_number (x->kept.mean, y->kept.mean));
      g_assert_cmpint (y->form, ==, VN_ANSWER_FIGURES);
    }
}

static void
check_verdict (const VnRun *a,
               const VnRun *b)
{
  g_autoptr(VnVerdict) x = vn_verdict_new (a);
  g_autoptr(VnVerdict) y = vn_verdict_new (b);

  g_assert_cmpstr (x->id, ==, y->id);
  g_assert_cmpstr (x->text, ==, y->text);
  g_assert_cmpuint (x->suspicions->len, ==, y->suspicions->len);
}

/* Written, read and written again: the same bytes; and what the bytes say is what there was. */
static void
test_roundtrip (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (11);
  guint n_rows = 0, n_data = 0, n_shapes = 0, n_contributions = 0, n_verified = 0, n_bodies = 0, n_answers = 0;

  for (guint i = 0; i < N_RECORDS; i++)
    {
      g_autoptr(VnRun) record = draw_run (rand), again = NULL;
      g_autofree char *text = vn_run_to_json (record, "/run"), *second = NULL;
      g_autoptr(GError) error = NULL;

      again = vn_run_from_json (text, -1, "result", "/run", &error);
      g_assert_no_error (error);
      second = vn_run_to_json (again, "/run");
      g_assert_cmpstr (text, ==, second);

      g_assert_cmpstr (record->program, ==, again->program);
      g_assert_cmpint (record->time, ==, again->time);
      g_assert_cmpstr (record->path, ==, again->path);
      g_assert_cmpstr (record->prepared_digest, ==, again->prepared_digest);
      g_assert_cmpstr (record->samples_digest, ==, again->samples_digest);
      g_assert_cmpstr (record->recipe_digest, ==, again->recipe_digest);
      g_assert_true (vn_recipe_equal (record->recipe, again->recipe));
      g_assert_true ((record->data == NULL) == (again->data == NULL));
      g_assert_cmpuint (record->float_bytes, ==, again->float_bytes);
      g_assert_true (same_number (vn_run_get_seconds (record, NULL), vn_run_get_seconds (again, NULL)));
      check_accuracy (&record->accuracy, &again->accuracy);
      g_assert_cmpuint (record->nodes->len, ==, again->nodes->len);
      g_assert_cmpuint (g_hash_table_size (record->value_names), ==, g_hash_table_size (again->value_names));
      g_assert_true ((record->settings.shapes == NULL) == (again->settings.shapes == NULL));
      g_assert_cmpuint (vn_notes_get_n (record->notes), ==, vn_notes_get_n (again->notes));
      g_assert_true ((record->errors == NULL) == (again->errors == NULL));
      if (record->errors != NULL)
        check_errors (record->errors, again->errors);
      g_assert_true ((record->contributions == NULL) == (again->contributions == NULL));
      if (record->contributions != NULL)
        check_contributions (record->contributions, again->contributions);
      g_assert_true ((record->verification == NULL) == (again->verification == NULL));
      if (record->verification != NULL)
        check_verification (record->verification, again->verification);
      g_assert_true ((record->answers == NULL) == (again->answers == NULL));
      if (record->answers != NULL)
        check_answers (record->answers, again->answers);
      n_answers += record->answers != NULL ? record->answers->len : 0;
      n_verified += record->verification != NULL;
      n_contributions += record->contributions != NULL ? vn_contributions_get_n (record->contributions) : 0;
      check_verdict (record, again);
      n_rows += record->errors != NULL ? vn_error_table_get_n (record->errors) : 0;
      n_bodies += record->errors != NULL ? vn_error_table_get_n_bodies (record->errors) : 0;
      n_data += record->data != NULL;
      n_shapes += record->settings.shapes != NULL;
    }
  g_test_message ("%u rows, %u with samples, %u with sizes", n_rows, n_data, n_shapes);
  g_assert_true (n_rows > 300 && n_data > 50 && n_shapes > 50 && n_contributions > 300 && n_verified > 50 && n_bodies > 50 &&
                 n_answers > 100);
}

/* Paths below the folder are relative to it; the folder may be moved. */
static void
test_moved (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (5);
  g_autoptr(VnRun) record = draw_run (rand), moved = NULL;
  g_autofree char *text = NULL;

  g_free (record->path);
  record->path = g_strdup ("/run/nets/net.onnx");
  text = vn_run_to_json (record, "/run");
  g_assert_null (strstr (text, "\"/run/"));
  moved = vn_run_from_json (text, -1, "result", "/elsewhere", NULL);
  g_assert_cmpstr (moved->path, ==, "/elsewhere/nets/net.onnx");
}

/* A text that occurs once is replaced by another. */
static const struct { const char *from, *to, *message; } wrong[] = {
  { "\"vernier-result\" : 1", "\"vernier-result\" : 7", "version 7" },
  { "\"vernier-result\" : 1", "\"vernier-result\" : \"x\"", "vernier-result" },
  { "\"vernier-result\"", "\"vernier-recept\"", "“vernier-result” is missing" },
  { "\"time\" : \"", "\"time\" : \"x", "time is “x" },
  { "\"calibration-samples\" : ", "\"calibration-samples\" : -", "run.calibration-samples is -" },
  { "\"calibration-samples\" : ", "\"calibration-samples\" : 0.5, \"a\" : ", "run.calibration-samples is 0.5" },
  { "\"calibration-samples\" : ", "\"calibration-samples\" : 1e30, \"a\" : ", "run.calibration-samples is 1e+30" },
  { "\"quantized-tensors\" : ", "\"quantized-tensors\" : true, \"a\" : ", "quantized-tensors: " },
  { "\"digests\" : {", "\"digests\" : 3, \"a\" : {", "digests: " },
  { "\"recipe\" : {", "\"receipt\" : {", "“recipe” is missing" },
  { "\"format\" : \"", "\"format\" : \"x", "recipe: format" },
  { "\"tensors\" : [", "\"tensors\" : [3, ", "errors.tensors[0]: " },
  { "\"weights\" : [", "\"weights\" : [{}], \"a\" : [", "“errors.weights[0].tensor” is missing" },
  { "\"sqnr\" : 12.5", "\"sqnr\" : \"much\"", "errors.tensors[0].sqnr is “much”" },
  { "\"elements\" : 64", "\"elements\" : 64.5", "errors.tensors[0].elements is 64.5" },
  { "\"contributions\" : [", "\"contributions\" : [{\"tensor\": \"t\", \"node\": \"n\", \"role\": \"loud\"}], \"b\" : [",
    "contributions[0].role is “loud”" },
  { "\"notes\" : [", "\"notes\" : [{\"level\": \"loud\", \"code\": \"c\", \"text\": \"t\"}], \"b\" : [",
    "notes[0].level is “loud”" },
  { "\"agree\" : 95", "\"agree\" : 101", "accuracy.agree is 101; expected an integer from 0 to 100" },
  { "\"of\" : 35", "\"of\" : 33", "kept.kept is 34; expected an integer from 0 to 33" },
  { "\"quantized-names\" : {", "\"quantized-names\" : {\"a\": 1}, \"b\" : {", "quantized-names.a: " },
  { "\"shapes\" : {", "\"shapes\" : {\"a\": [1,2,3,4,5,6,7,8,9]}, \"b\" : {", "run.shapes.a has 9 " },
  { "\"shapes\" : {", "\"shapes\" : {\"a\": [-2]}, \"b\" : {", "run.shapes.a is -2" },
};

/* A record that has everything that @wrong speaks of. */
static char *
make_text (void)
{
  g_autoptr(VnRun) record = vn_run_new ();
  VnErrorRow *row = vn_error_row_new ();

  record->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_run_node_free);
  record->value_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  record->program = g_strdup ("0");
  record->recipe = vn_recipe_new ("cpu");
  record->recipe_digest = vn_recipe_dup_digest (record->recipe);
  record->notes = vn_notes_new ();
  record->settings.n_calibration = 4;
  record->settings.shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  record->accuracy = (VnAccuracy) { .n = 100, .float_top1 = 90, .quant_top1 = 88, .agree = 95, .valid = TRUE,
                                    .kept = { VN_TASK_DETECTION, 4, 35, 34, 2, 34.0 / 35 } };
  record->errors = vn_error_table_new (4);
  row->value = g_strdup ("y");
  row->node = g_strdup ("n");
  row->op_type = g_strdup ("Conv");
  row->n = 64;
  row->sqnr_db = 12.5;
  vn_error_table_add (record->errors, row);
  record->contributions = vn_contributions_new_empty ();
  return vn_run_to_json (record, "/run");
}

static char *
replace (const char *text,
         const char *from,
         const char *to)
{
  const char *at = strstr (text, from);

  g_assert_nonnull (at);
  return g_strdup_printf ("%.*s%s%s", (int) (at - text), text, to, at + strlen (from));
}

/* What is kept of detections; of a task that another program knows nothing is told. */
static void
test_kept (void)
{
  g_autofree char *text = make_text (), *unknown = replace (text, "\"detection\"", "\"divination\"");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) record = vn_run_from_json (text, -1, "a", "/run", &error);
  g_autoptr(VnRun) other = vn_run_from_json (unknown, -1, "a", "/run", &error);
  g_autofree char *again = NULL, *said = NULL;

  g_assert_no_error (error);
  g_assert_true (record->accuracy.kept.task == VN_TASK_DETECTION && record->accuracy.kept.n_samples == 4);
  g_assert_true (record->accuracy.kept.n == 35 && record->accuracy.kept.n_kept == 34 && record->accuracy.kept.n_added == 2);
  said = vn_kept_dup_text (&record->accuracy.kept);
  g_assert_cmpstr (said, ==, "matching detections: 97.1 % (34 of 35, 2 added)");
  again = vn_run_to_json (record, "/run");
  g_assert_cmpstr (again, ==, text);
  g_assert_false (vn_kept_is_known (&other->accuracy.kept));
  g_assert_cmpuint (other->accuracy.agree, ==, 95);
}

/* The second figure of tokens stays. */
static void
test_kept_mean (void)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = make_text ();
  g_autoptr(VnRun) record = vn_run_from_json (text, -1, "a", "/run", &error), again = NULL;
  g_autofree char *tokens = NULL, *said = NULL;

  g_assert_no_error (error);
  record->accuracy.kept = (VnKept) { VN_TASK_TOKENS, 4, 40, 30, 0, 0.75, 0.125 };
  tokens = vn_run_to_json (record, "/run");
  again = vn_run_from_json (tokens, -1, "a", "/run", &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (again->accuracy.kept.mean, ==, 0.125);
  said = vn_kept_dup_text (&again->accuracy.kept);
  g_assert_cmpstr (said, ==, "matching tokens: 75.0 % (30 of 40, KL divergence 0.1250)");
}

static void
test_wrong (void)
{
  g_autofree char *text = make_text ();

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autofree char *changed = replace (text, wrong[i].from, wrong[i].to);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRun) record = vn_run_from_json (changed, -1, "run.json", "/run", &error);

      g_test_message ("%s -> %s", wrong[i].to, error != NULL ? error->message : "accepted");
      g_assert_null (record);
      g_assert_nonnull (error);
      g_assert_true (g_str_has_prefix (error->message, "run.json: "));
      g_assert_nonnull (strstr (error->message, wrong[i].message));
    }
}

/* What a later version may add is no fault; what it may have had no metric for is NaN. */
static void
test_unknown (void)
{
  g_autofree char *text = make_text ();
  g_autofree char *more = replace (text, "\"program\"", "\"mood\" : [1, {\"a\": null}], \"program\"");
  g_autofree char *row = replace (more, "\"elements\" : 64", "\"colour\" : \"red\", \"elements\" : 64");
  g_autofree char *less = replace (row, "\"cosine\"", "\"cosinus\"");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) record = vn_run_from_json (less, -1, "result", "/run", &error);

  g_assert_no_error (error);
  g_assert_true (isnan (vn_error_table_get (record->errors, 0)->cosine));
  g_assert_cmpfloat (vn_error_table_get (record->errors, 0)->sqnr_db, ==, 12.5);
}

/* A file damaged at any place is refused or understood, never more. */
static void
test_mutations (void)
{
  g_autofree char *text = make_text ();
  static const char with[] = "\0\"{}[],:-9ez\\\xff";
  gsize n = strlen (text);
  guint refused = 0, accepted = 0;

  for (gsize at = 0; at < n; at += 7)
    for (gsize k = 0; k < sizeof with - 1; k += 1 + at % 3)
      {
        g_autofree char *changed = g_memdup2 (text, n);
        g_autoptr(GError) error = NULL;
        g_autoptr(VnRun) record = NULL;

        changed[at] = with[k];
        record = vn_run_from_json (changed, (gssize) n, "result", "/run", &error);
        g_assert_true ((record == NULL) == (error != NULL));
        refused += record == NULL;
        accepted += record != NULL;
      }
  g_test_message ("%u refused, %u understood", refused, accepted);
  g_assert_true (refused > 1000 && accepted > 100);
}

static void
test_files (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vn-result-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "run.json", NULL);
  g_autoptr(GRand) rand = g_rand_new_with_seed (2);
  g_autoptr(VnRun) record = draw_run (rand), again = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_null (vn_run_load (path, folder, &error));
  g_assert_nonnull (strstr (error->message, path));
  g_clear_error (&error);
  g_assert_true (vn_run_save (record, path, folder, &error));
  again = vn_run_load (path, folder, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (again->recipe_digest, ==, record->recipe_digest);
  g_unlink (path);
  g_rmdir (folder);
}

/* The digest tells recipes apart, and does not depend on where the program was started. */
static void
test_digest (void)
{
  g_autoptr(VnRecipe) a = vn_recipe_new ("cpu"), b = vn_recipe_new ("cpu");
  g_autofree char *current = g_get_current_dir (), *here = g_build_filename (current, "r.json", NULL);
  g_autofree char *first = vn_recipe_dup_digest (a), *same = vn_recipe_dup_digest (b), *other = NULL, *relative = NULL,
  *absolute = NULL;

  g_assert_cmpstr (first, ==, same);
  b->percentile = 99.5;
  other = vn_recipe_dup_digest (b);
  g_assert_cmpstr (first, !=, other);
  a->ranges = g_strdupv ((char *[]) { "r.json", NULL });
  relative = vn_recipe_dup_digest (a);
  g_free (a->ranges[0]);
  a->ranges[0] = g_steal_pointer (&here);
  absolute = vn_recipe_dup_digest (a);
  g_assert_cmpstr (relative, ==, absolute);
  g_assert_cmpstr (relative, !=, first);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/run-file/roundtrip", test_roundtrip);
  g_test_add_func ("/run-file/moved", test_moved);
  g_test_add_func ("/run-file/kept", test_kept);
  g_test_add_func ("/run-file/kept-mean", test_kept_mean);
  g_test_add_func ("/run-file/wrong", test_wrong);
  g_test_add_func ("/run-file/unknown", test_unknown);
  g_test_add_func ("/run-file/mutations", test_mutations);
  g_test_add_func ("/run-file/files", test_files);
  g_test_add_func ("/run-file/digest", test_digest);
  return g_test_run ();
}
