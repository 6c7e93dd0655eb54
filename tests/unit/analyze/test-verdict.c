/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on made tables of errors, hits and notes: every level, and what comes before what. */
#include "vn-data-suspicion.h"
#include "vn-verdict.h"

#include <math.h>
#include <string.h>

/* A tensor: "out" is the output, all others are inside. */
typedef struct
{
  const char *name;
  double      db;
  guint64     n_bad, n_bad_float;
} Row;

#define MAX_ROWS 5u

static VnErrorTable *
make_table (const Row *rows,
            guint      n_good)
{
  VnErrorTable *table = vn_error_table_new (4);

  for (guint i = 0; i < n_good; i++)
    {
      VnErrorRow *row = vn_error_row_new ();

      row->value = g_strdup_printf ("good%u", i);
      row->node = g_strdup ("node");
      row->op_type = g_strdup ("Conv");
      row->sqnr_db = 40;
      row->noise_to_signal = 1e-4;
      row->cosine = 1;
      vn_error_table_add (table, row);
    }
  for (guint i = 0; i < MAX_ROWS && rows[i].name != NULL; i++)
    {
      VnErrorRow *row = vn_error_row_new ();

      row->value = g_strdup (rows[i].name);
      row->node = g_strdup ("node");
      row->op_type = g_strdup ("Conv");
      row->is_output = g_str_has_prefix (rows[i].name, "out");
      row->is_last = g_str_has_prefix (rows[i].name, "last");
      row->sqnr_db = rows[i].db;
      row->noise_to_signal = pow (10, -rows[i].db / 10);
      row->cosine = 1;
      row->n_bad = rows[i].n_bad;
      row->n_bad_float = rows[i].n_bad_float;
      vn_error_table_add (table, row);
    }
  return table;
}

/* ---- by the numbers ---- */

typedef struct
{
  const char    *what;
  VnVerdictLevel level;
  Row            rows[MAX_ROWS];
  VnAccuracy     accuracy;
} Case;

static const Case cases[] = {
  { "excellent output", VN_VERDICT_GOOD, { { "out", 30 } } },
  { "excellent output hides bad nodes", VN_VERDICT_GOOD, { { "a", 3 }, { "b", 4 }, { "out", 30 } } },
  { "fine output, nothing bad", VN_VERDICT_GOOD, { { "a", 10 }, { "out", 20 } } },
  { "equal outputs", VN_VERDICT_GOOD, { { "out", INFINITY } } },
  { "fine output, one bad node", VN_VERDICT_WEAK_SPOT, { { "a", 9.9 }, { "out", 29.9 } } },
  { "fine output, bad nodes", VN_VERDICT_CARE, { { "a", 9.9 }, { "b", 9 }, { "out", 25 } } },
  { "output less than fine", VN_VERDICT_CARE, { { "a", 30 }, { "out", 19.9 } } },
  { "output bad", VN_VERDICT_UNUSABLE, { { "out", 9.9 } } },
  { "the worse output counts", VN_VERDICT_UNUSABLE, { { "out1", 40 }, { "out2", 5 }, { "out3", 40 } } },
  { "the last before what cannot be run counts", VN_VERDICT_CARE, { { "last", 15 }, { "out", 40 } } },
  { "what cannot be run leaves the outputs open", VN_VERDICT_CARE, { { "last", 48 }, { "out", 60 } } },
  { "nothing left", VN_VERDICT_UNUSABLE, { { "out", -INFINITY } } },
  /* float hits, quantized hits, same answer, valid */
  { "many lost", VN_VERDICT_UNUSABLE, { { "out", 40 } }, { 1000, 800, 700, 850, TRUE } },
  { "some lost", VN_VERDICT_CARE, { { "a", 5 }, { "b", 5 }, { "out", 40 } }, { 1000, 800, 770, 960, TRUE } },
  { "some lost, one bad node", VN_VERDICT_WEAK_SPOT, { { "a", 5 }, { "out", 40 } }, { 1000, 800, 770, 960, TRUE } },
  { "some lost, the bad node makes the output", VN_VERDICT_CARE, { { "out", 9 } }, { 1000, 800, 770, 960, TRUE } },
  { "none lost though outputs differ", VN_VERDICT_GOOD, { { "out", 8 } }, { 1000, 800, 799, 990, TRUE } },
  { "won", VN_VERDICT_GOOD, { { "out", 15 } }, { 1000, 800, 830, 900, TRUE } },
  { "one of sixteen is chance", VN_VERDICT_GOOD, { { "out", 38.35 } }, { 16, 7, 6, 15, TRUE } },
  { "sixteen say nothing for a bad output", VN_VERDICT_UNUSABLE, { { "out", 5 } }, { 16, 7, 7, 16, TRUE } },
  { "four of sixteen are not chance", VN_VERDICT_UNUSABLE, { { "out", 38 } }, { 16, 10, 6, 12, TRUE } },
  { "three of a hundred may be chance, but are not good", VN_VERDICT_CARE, { { "out", 38 } }, { 100, 80, 77, 90, TRUE } },
  { "two of a hundred are within the limit and a sample", VN_VERDICT_GOOD, { { "out", 38 } }, { 100, 80, 78, 90, TRUE } },
  /* answers kept: of a detector, of a mask */
  { "no detection left", VN_VERDICT_UNUSABLE, { { "out", 33 } }, { .kept = { VN_TASK_DETECTION, 8, 161, 0, 0, .share = 0 } } },
  { "half of the detections left", VN_VERDICT_UNUSABLE, { { "out", 33 } },
    { .kept = { VN_TASK_DETECTION, 8, 161, 80, 0, .share = 0.5 } } },
  { "most detections left", VN_VERDICT_CARE, { { "out", 33 } },
    { .kept = { VN_TASK_DETECTION, 8, 161, 120, 10, .share = 0.75 } } },
  { "all left, as many added", VN_VERDICT_CARE, { { "out", 33 } },
    { .kept = { VN_TASK_DETECTION, 8, 161, 161, 161, .share = 1 } } },
  { "all left, though outputs differ", VN_VERDICT_GOOD, { { "out", 12 } },
    { .kept = { VN_TASK_DETECTION, 8, 161, 160, 2, .share = 0.99 } } },
  { "three detections say nothing", VN_VERDICT_GOOD, { { "out", 33 } },
    { .kept = { VN_TASK_DETECTION, 8, 3, 2, 0, .share = 0.67 } } },
  { "one of three left is never good", VN_VERDICT_CARE, { { "out", 33 } },
    { .kept = { VN_TASK_DETECTION, 8, 3, 1, 0, .share = 0.33 } } },
  { "three detections save nothing", VN_VERDICT_UNUSABLE, { { "out", 3 } },
    { .kept = { VN_TASK_DETECTION, 8, 3, 3, 0, .share = 1 } } },
  { "most of few detections left, though outputs are bad", VN_VERDICT_CARE, { { "out", 7.5 } },
    { .kept = { VN_TASK_DETECTION, 8, 23, 19, 6, .share = 19.0 / 23 } } },
  { "most of too few detections left", VN_VERDICT_UNUSABLE, { { "out", 7.5 } },
    { .kept = { VN_TASK_DETECTION, 8, 6, 5, 0, .share = 5.0 / 6 } } },
  { "many added, the bad node makes the output", VN_VERDICT_CARE, { { "a", 30 }, { "out", 8.8 } },
    { .kept = { VN_TASK_DETECTION, 32, 133, 127, 44, .share = 127.0 / 177 } } },
  { "many added, one bad node", VN_VERDICT_WEAK_SPOT, { { "a", 9 }, { "out", 15.7 } },
    { .kept = { VN_TASK_DETECTION, 32, 133, 127, 44, .share = 127.0 / 177 } } },
  { "many lost and added, by chance or not", VN_VERDICT_CARE, { { "out", 23.6 } },
    { .kept = { VN_TASK_DETECTION, 30, 133, 122, 19, .share = 122.0 / 133 } } },
  { "many lost and added, one bad node", VN_VERDICT_WEAK_SPOT, { { "a", 9 }, { "out", 25 } },
    { .kept = { VN_TASK_DETECTION, 30, 133, 122, 19, .share = 122.0 / 133 } } },
  { "few lost and added, by chance or not", VN_VERDICT_GOOD, { { "out", 23.6 } },
    { .kept = { VN_TASK_DETECTION, 30, 133, 122, 14, .share = 122.0 / 133 } } },
  { "mask lost", VN_VERDICT_UNUSABLE, { { "out", 25 } }, { .kept = { VN_TASK_SEGMENTATION, 8, 2, 0, 0, .share = 0.5 } } },
  { "mask kept", VN_VERDICT_GOOD, { { "out", 15 } }, { .kept = { VN_TASK_SEGMENTATION, 8, 2, 0, 0, .share = 0.97 } } },
  { "hits come before answers", VN_VERDICT_GOOD, { { "out", 15 } },
    { 1000, 800, 830, 900, TRUE, .kept = { VN_TASK_DETECTION, 8, 161, 0, 0, .share = 0 } } },
  { "hits without labels", VN_VERDICT_GOOD, { { "out", 38 } }, { 16, 10, 0, 0, FALSE } },
};

static void
test_numbers (gconstpointer data)
{
  const Case *test = data;
  g_autoptr(VnErrorTable) errors = make_table (test->rows, 0);
  g_autoptr(VnVerdict) verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .accuracy = test->accuracy });

  g_test_message ("%s: %s", verdict->title, verdict->text);
  g_assert_cmpstr (verdict->id, ==, vn_verdict_level_get_id (test->level));
  g_assert_cmpuint (verdict->suspicions->len, ==, 0);
  g_assert_cmpuint (verdict->not_finite->len, ==, 0);
}

/* ---- by few samples, and by the margin ---- */

static const struct
{
  guint          n_samples;
  double         db, margin_db;
  VnAccuracy     accuracy;
  VnVerdictLevel level;
} few[] = {
  { 1, 34, NAN, { 0 }, VN_VERDICT_CARE },
  { 3, 60, 1, { 0 }, VN_VERDICT_CARE },
  { 3, 60, 1, { .kept = { VN_TASK_DETECTION, 3, 161, 161, 0, .share = 1 } }, VN_VERDICT_CARE },
  { 3, 5, 1, { 0 }, VN_VERDICT_UNUSABLE },
  { 4, 34, 2, { 0 }, VN_VERDICT_GOOD },
  { 4, 34, 14.1, { 0 }, VN_VERDICT_CARE },
  { 4, 34, 13.9, { 0 }, VN_VERDICT_GOOD },
  { 16, 22, 1.9, { 0 }, VN_VERDICT_GOOD },
  { 16, 22, 2.1, { 0 }, VN_VERDICT_CARE },
  /* what is kept of the answers has a margin of its own */
  { 16, 22, 2.1, { .kept = { VN_TASK_DETECTION, 16, 161, 161, 0, .share = 1 } }, VN_VERDICT_GOOD },
};

static void
test_few (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (few); i++)
    {
      g_autoptr(VnErrorTable) errors = vn_error_table_new (few[i].n_samples);
      g_autoptr(VnVerdict) verdict = NULL;
      VnErrorRow *row = vn_error_row_new ();

      row->value = g_strdup ("out");
      row->node = g_strdup ("node");
      row->op_type = g_strdup ("Conv");
      row->is_output = TRUE;
      row->sqnr_db = few[i].db;
      row->margin_db = few[i].margin_db;
      vn_error_table_add (errors, row);
      verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .accuracy = few[i].accuracy });
      g_test_message ("%u: %s: %s", i, verdict->title, verdict->text);
      g_assert_cmpstr (verdict->id, ==, vn_verdict_level_get_id (few[i].level));
    }
}

/* In a large network a share of bad tensors is a spot that would be the whole of a small one. */
static void
test_spot (void)
{
  const Row rows[MAX_ROWS] = { { "a", 5 }, { "b", 5 }, { "c", 5 }, { "out", 25 } };
  const guint n_good[] = { 50, 60 };
  const VnVerdictLevel levels[] = { VN_VERDICT_CARE, VN_VERDICT_WEAK_SPOT };

  for (guint i = 0; i < G_N_ELEMENTS (n_good); i++)
    {
      g_autoptr(VnErrorTable) errors = make_table (rows, n_good[i]);
      g_autoptr(VnVerdict) verdict = vn_verdict_new (&(const VnRun) { .errors = errors });

      g_assert_cmpint (verdict->level, ==, levels[i]);
      g_assert_cmpuint (verdict->figures.n_bad, ==, 3);
      g_assert_cmpstr (verdict->worst->value, ==, "out");
      g_assert_cmpfloat (verdict->figures.worst_db, ==, 25);
    }
}

/* A part of an output that is lost is what the verdict is about, and is named; one that is dead is never good. */
static void
test_parts (void)
{
  static const struct { double db; gboolean is_dead; VnVerdictLevel level; const char *says; VnKept kept; } tests[] = {
    { 0, TRUE, VN_VERDICT_UNUSABLE, "“out, channels 4–21 (up to 0.9)”", { 0 } },
    { 4, FALSE, VN_VERDICT_UNUSABLE, "“out, channels 4–21 (up to 0.9)”, has an SQNR of 4.0", { 0 } },
    { 25, FALSE, VN_VERDICT_GOOD, "channels 4–21 (up to 0.9)”, has an SQNR of 25.0", { 0 } },
    { 0, TRUE, VN_VERDICT_CARE, "“out, channels 4–21 (up to 0.9)”", { VN_TASK_DETECTION, 8, 161, 160, 0, .share = 0.99 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      const Row rows[MAX_ROWS] = { { "out", 33 } };
      g_autoptr(VnErrorTable) errors = make_table (rows, 0);
      VnErrorPart *parts[] = { g_new0 (VnErrorPart, 1), g_new0 (VnErrorPart, 1) };
      VnAccuracy accuracy = { .kept = tests[i].kept };
      g_autoptr(VnVerdict) verdict = NULL;

      *parts[0] = (VnErrorPart) { 1, g_strdup ("4-21"), 100, 0, 0.9, tests[i].db, pow (10, -tests[i].db / 10), 0,
                                  tests[i].is_dead };
      *parts[1] = (VnErrorPart) { 1, g_strdup ("0-3"), 100, 0, 250, 40, 1e-4, 1, FALSE };
      for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
        vn_error_row_take_part ((VnErrorRow *) vn_error_table_find (errors, "out"), parts[k]);
      verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .accuracy = accuracy });
      g_assert_cmpstr (verdict->id, ==, vn_verdict_level_get_id (tests[i].level));
      g_assert_cmpfloat (verdict->figures.worst_db, ==, tests[i].db);
      g_assert_nonnull (strstr (verdict->text, tests[i].says));
    }
}

/* ---- in ONNX Runtime ---- */

typedef struct
{
  const char    *what;
  double         out;                  /* of the output here; 0: not measured */
  double         between, ours, theirs; /* of the output in ONNX Runtime to ours, and of both to float; 0: not run, not known */
  double         seconds;              /* of one run, as measured or as forecast; float takes 1 */
  VnVerdictLevel level;
  gboolean       is_opposed;
  double         worst;                /* that the verdict goes by */
  const char    *says, *does_not_say;  /* nullable */
} RuntimeCase;

#define SLOW "However, it takes 1.5 times as long as the float model in ONNX Runtime, as measured."
#define DIFFERS "differ from our simulation"

static const RuntimeCase runtime_cases[] = {
  { "not known", 40, 0, 0, 0, 0, VN_VERDICT_GOOD, FALSE, 40, NULL, "ONNX Runtime" },
  { "agrees, faster", 40, 80, 0, 0, 0.5, VN_VERDICT_GOOD, FALSE, 40, NULL, "ONNX Runtime" },
  { "agrees, as fast", 40, 80, 0, 0, 1.04, VN_VERDICT_GOOD, FALSE, 40, NULL, "ONNX Runtime" },
  { "agrees, slower", 40, 80, 0, 0, 1.5, VN_VERDICT_GOOD, TRUE, 40, SLOW, NULL },
  { "slower by forecast", 40, 0, 0, 0, 2, VN_VERDICT_GOOD, TRUE, 40, "estimated to take", "measured." },
  { "within what a forecast allows for", 40, 0, 0, 0, 1.1, VN_VERDICT_GOOD, FALSE, 40, NULL, "However, it" },
  { "differs", 40, 5, 0, 0, 0.5, VN_VERDICT_DIFFERS, TRUE, 40, DIFFERS, "However, it" },
  { "differs, slower", 40, 5, 0, 0, 1.5, VN_VERDICT_DIFFERS, TRUE, 40, DIFFERS, "However, it" },
  { "bad and differs", 5, 3, 0, 0, 0.5, VN_VERDICT_UNUSABLE, TRUE, 5, DIFFERS, NULL },
  { "not measured, differs", 0, 5, 0, 0, 1.5, VN_VERDICT_DIFFERS, TRUE, NAN, DIFFERS, "However, it" },
  { "bad and slower", 5, 80, 0, 0, 1.5, VN_VERDICT_UNUSABLE, TRUE, 5, NULL, "ONNX Runtime" },
  /* against float: what is between is small beside what quantizing costs, or its own figure counts */
  { "ten below", 22, 32.5, 22, 21.8, 1, VN_VERDICT_GOOD, FALSE, 22, "The worst output has an SQNR of 22.0", "ONNX Runtime" },
  { "less than ten below", 22.1, 21, 22.1, 19.6, 1, VN_VERDICT_CARE, FALSE, 19.6,
    "In ONNX Runtime, the worst output has an SQNR of 19.6", DIFFERS },
  { "other samples here", 24, 21, 22, 19.5, 1, VN_VERDICT_GOOD, FALSE, 21.5, "21.5", NULL },
  { "better there", 18, 20, 18, 22, 1, VN_VERDICT_GOOD, FALSE, 22, "22.0", NULL },
  { "hardly differs", 50, 38, 50, 37, 1, VN_VERDICT_GOOD, FALSE, 37, "37.0", NULL },
  { "another result, usable", 33, 16, 33, 15, 1, VN_VERDICT_DIFFERS, TRUE, 15, DIFFERS, NULL },
  { "another result, good", 40, 25, 40, 25, 1, VN_VERDICT_DIFFERS, TRUE, 25, DIFFERS, NULL },
  { "another result, useless", 38.7, 6, 38.7, 6, 1, VN_VERDICT_UNUSABLE, TRUE, 6, DIFFERS, NULL },
  { "no numbers there", 38.7, NAN, 38.7, NAN, 1, VN_VERDICT_UNUSABLE, TRUE, -INFINITY, DIFFERS, NULL },
};

/* A good result that ONNX Runtime does not give is none. */
static void
test_runtime (gconstpointer data)
{
  const RuntimeCase *test = data;
  const Row rows[MAX_ROWS] = { { "out", test->out } };
  g_autoptr(VnErrorTable) errors = test->out > 0 ? make_table (rows, 0) : NULL;
  VnRuntimeForecast forecast = { .seconds = test->seconds, .float_seconds = 1 };
  g_autoptr(VnVerification) verification = NULL;
  g_autoptr(VnVerdict) verdict = NULL;

  if (test->between != 0)
    {
      verification = vn_verification_new ();
      verification->version = g_strdup ("1.0");
      verification->seconds = test->seconds;
      verification->float_seconds = 1;
      vn_verification_add (verification, &(VnVerifiedOutput) { (char *) "out", NULL, test->between, test->ours != 0
                                                               ? test->ours : NAN,
                                                               test->theirs != 0 ? test->theirs : NAN, 0.1 });
    }
  verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .forecast = test->seconds > 0 ? &forecast : NULL,
                                             .verification = verification });
  g_test_message ("%s: %s", verdict->title, verdict->text);
  g_assert_cmpstr (verdict->id, ==, vn_verdict_level_get_id (test->level));
  g_assert_cmpint (verdict->is_opposed, ==, test->is_opposed);
  g_assert_true (isnan (verdict->figures.worst_db) == isnan (test->worst));
  g_assert_true (isnan (test->worst) || verdict->figures.worst_db == test->worst ||
                 fabs (verdict->figures.worst_db - test->worst) < 1e-9);
  if (test->says != NULL)
    g_assert_nonnull (strstr (verdict->text, test->says));
  if (test->does_not_say != NULL)
    g_assert_null (strstr (verdict->text, test->does_not_say));
}

/* What it is not made for may take any time. */
static void
test_other_target (void)
{
  const Row rows[MAX_ROWS] = { { "out", 40 } };
  g_autoptr(VnErrorTable) errors = make_table (rows, 0);
  g_autoptr(VnVerification) verification = vn_verification_new ();
  g_autoptr(VnVerdict) verdict = NULL;

  verification->seconds = 35;
  verification->float_seconds = 1;
  verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .verification = verification });
  g_assert_cmpint (verdict->level, ==, VN_VERDICT_GOOD);
  g_assert_false (verdict->is_opposed);
}

/* An export that is refused is not usable, whatever was measured here; one that could not be tried says so in its title. */
static void
test_refused (void)
{
  static const struct
  {
    const char    *what;
    double         out;       /* 0: not measured */
    const char    *refusal;   /* NULL: it could not be asked */
    gboolean       suspicious;
    const char    *title;
  } tests[] = {
    { "good", 40, "It does not load it: no kernel", FALSE, "Refused by ONNX Runtime" },
    { "bad", 4, "It does not load it: no kernel", FALSE, "Refused by ONNX Runtime" },
    { "not measured", 0, "It does not load it: no kernel", FALSE, "Refused by ONNX Runtime" },
    { "suspicious", 40, "It does not load it: no kernel", TRUE, "Refused by ONNX Runtime" },
    { "good, not asked", 40, NULL, FALSE, "As good as the float model, not run in ONNX Runtime" },
    { "fair, not asked", 15, NULL, FALSE, "Usable with care, not run in ONNX Runtime" },
    { "bad, not asked", 4, NULL, FALSE, "Not usable yet" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      const Row rows[MAX_ROWS] = { { "out", tests[i].out } };
      g_autoptr(VnErrorTable) errors = tests[i].out > 0 ? make_table (rows, 0) : NULL;
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(VnVerification) refused = tests[i].refusal != NULL
                                              ? vn_verification_new_refused (vn_target_runtime_get_default (), tests[i].refusal)
                                              : NULL;
      g_autoptr(VnVerdict) verdict = NULL;

      if (tests[i].suspicious)
        vn_notes_add (notes, VN_NOTE_WARNING, "data-range", "image", "odd");
      if (refused == NULL)
        vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_NOT_VERIFIED, NULL, "There is none");
      verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .notes = notes, .verification = refused });
      g_test_message ("%s: %s. %s", tests[i].what, verdict->title, verdict->text);
      g_assert_cmpstr (verdict->title, ==, tests[i].title);
      g_assert_cmpint (verdict->level == VN_VERDICT_REFUSED, ==, refused != NULL);
      g_assert_cmpint (verdict->is_opposed, ==, refused != NULL);
      g_assert_cmpuint (verdict->suspicions->len, ==, tests[i].suspicious);
      if (refused != NULL)
        g_assert_true (g_str_has_prefix (verdict->text, tests[i].refusal));
    }
}

/* ---- what comes before the numbers ---- */

static void
test_suspicions (void)
{
  const Row good[MAX_ROWS] = { { "out", 50 } }, bad[MAX_ROWS] = { { "out", 2 } };
  static const char * const codes[] = {
#define VN_DATA_SUSPICION(code, title, remedy, by_preprocessing) code,
#include "vn-data-suspicions.def"
#undef VN_DATA_SUSPICION
  };

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    for (guint k = 0; k < 2; k++)
      {
        g_autoptr(VnErrorTable) errors = make_table (k > 0 ? bad : good, 0);
        g_autoptr(VnNotes) notes = vn_notes_new ();
        g_autoptr(VnVerdict) verdict = NULL;
        const VnNote *first;

        vn_notes_add (notes, VN_NOTE_INFO, "data-few", NULL, "only three");
        vn_notes_add (notes, VN_NOTE_WARNING, "no-held-out", NULL, "the same ones");
        vn_notes_add (notes, VN_NOTE_WARNING, codes[i], "image", "odd");
        vn_notes_add_remedy (notes, VN_NOTE_WARNING, codes[i], "image", "do that", "odder");
        verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .notes = notes });
        g_assert_cmpint (verdict->level, ==, VN_VERDICT_SUSPICIOUS);
        g_assert_cmpuint (verdict->suspicions->len, ==, 2);
        first = verdict->suspicions->pdata[0];
        g_assert_cmpstr (first->text, ==, "odd");
        g_assert_cmpuint (strlen (vn_data_suspicion_get_remedy (first)), >, 10);
        g_assert_cmpstr (vn_data_suspicion_get_remedy (verdict->suspicions->pdata[1]), ==, "do that");
        g_assert_nonnull (strstr (verdict->text, k > 0 ? "Not usable yet" : "As good as the float model"));
      }
}

static void
test_not_measured (void)
{
  const Row inside[MAX_ROWS] = { { "a", 50 } };
  g_autoptr(VnErrorTable) errors = make_table (inside, 3);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnVerdict) none = vn_verdict_new (&(const VnRun) { 0 });
  g_autoptr(VnVerdict) no_output = vn_verdict_new (&(const VnRun) { .errors = errors });
  g_autoptr(VnVerdict) suspicious = NULL;

  vn_notes_add (notes, VN_NOTE_WARNING, "data-range", "image", "odd");
  suspicious = vn_verdict_new (&(const VnRun) { .notes = notes });
  g_assert_cmpint (none->level, ==, VN_VERDICT_NOT_MEASURED);
  g_assert_cmpint (no_output->level, ==, VN_VERDICT_NOT_MEASURED);
  g_assert_cmpint (suspicious->level, ==, VN_VERDICT_NOT_MEASURED);
  g_assert_cmpuint (suspicious->suspicions->len, ==, 1);
  g_assert_null (none->worst);
}

static void
test_not_finite (void)
{
  static const struct
  {
    Row         rows[MAX_ROWS];
    const char *weight;        /* nullable: one with an infinite value */
    const char *names;         /* NULL: all is finite that has to be */
  } tests[] = {
    { { { "mask", 40, 0, 8 }, { "out", 40 } }, NULL, NULL },        /* infinite on purpose, and nothing comes of it */
    { { { "a", 40 }, { "out", -INFINITY, 3, 0 } }, NULL, "out" },
    { { { "a", 40, 0, 2 }, { "b", 40, 0, 2 }, { "out", 40, 0, 1 } }, NULL, "a out" },
    { { { "a", NAN, 0, 4 }, { "out", NAN, 0, 4 } }, "w", "w a out" },
    { { { "out", 40 } }, "w", "w" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autoptr(VnErrorTable) errors = make_table (tests[i].rows, 0);
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(VnVerdict) verdict = NULL;
      g_autofree char *names = NULL;

      if (tests[i].weight != NULL)
        vn_notes_add (notes, VN_NOTE_PROBLEM, VN_NOTE_WEIGHTS_NOT_FINITE, tests[i].weight, "1 of 9");
      verdict = vn_verdict_new (&(const VnRun) { .errors = errors, .notes = notes });
      g_test_message ("%s: %s", verdict->title, verdict->text);
      g_assert_cmpint (verdict->level, ==, tests[i].names != NULL ? VN_VERDICT_NOT_FINITE : VN_VERDICT_GOOD);
      g_ptr_array_add (verdict->not_finite, NULL);
      names = g_strjoinv (" ", (char **) verdict->not_finite->pdata);
      g_assert_cmpstr (names, ==, tests[i].names != NULL ? tests[i].names : "");
      for (guint k = 0; k + 1 < verdict->not_finite->len; k++)
        g_assert_nonnull (strstr (verdict->text, verdict->not_finite->pdata[k]));
    }
}

/* ---- thresholds: of each tensor, in all metrics ---- */

static void
test_metrics (void)
{
  for (VnMetric metric = 0; metric < VN_N_METRICS; metric++)
    {
      const VnMetricInfo *info = vn_metric_get_info (metric);

      g_assert_cmpint (isnan (info->fine), ==, isnan (info->bad));
      if (!isnan (info->fine))
        g_assert_true (vn_metric_is_higher_better (metric) ? info->fine > info->bad : info->fine < info->bad);
    }
  g_assert_cmpfloat_with_epsilon (-10 * log10 (vn_metric_get_info (VN_METRIC_NOISE)->bad),
                                  vn_metric_get_info (VN_METRIC_SQNR)->bad, 1e-9);
  g_assert_cmpfloat_with_epsilon (-10 * log10 (vn_metric_get_info (VN_METRIC_NOISE)->fine),
                                  vn_metric_get_info (VN_METRIC_SQNR)->fine, 1e-9);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdelimit (g_strconcat ("/verdict/numbers/", cases[i].what, NULL), " ,", '-');

      g_test_add_data_func (path, &cases[i], test_numbers);
    }
  for (guint i = 0; i < G_N_ELEMENTS (runtime_cases); i++)
    {
      g_autofree char *path = g_strdelimit (g_strconcat ("/verdict/runtime/", runtime_cases[i].what, NULL), " ,", '-');

      g_test_add_data_func (path, &runtime_cases[i], test_runtime);
    }
  g_test_add_func ("/verdict/parts", test_parts);
  g_test_add_func ("/verdict/spot", test_spot);
  g_test_add_func ("/verdict/few", test_few);
  g_test_add_func ("/verdict/other-target", test_other_target);
  g_test_add_func ("/verdict/refused", test_refused);
  g_test_add_func ("/verdict/suspicions", test_suspicions);
  g_test_add_func ("/verdict/not-measured", test_not_measured);
  g_test_add_func ("/verdict/not-finite", test_not_finite);
  g_test_add_func ("/verdict/metrics", test_metrics);
  return g_test_run ();
}
