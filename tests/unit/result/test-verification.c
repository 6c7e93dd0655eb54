/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured in ONNX Runtime stands in the place of what was forecast, figure by figure. */
#include "vn-run.h"

#include <math.h>

static void
test_agrees (void)
{
  static const struct
  {
    const char  *what;
    double       between, ours, theirs;
    VnAgreement  agreement;
    double       shift;
  } tests[] = {
    { "the same bits", INFINITY, NAN, NAN, VN_AGREEMENT_SAME, 0 },
    { "the same bits, bad", INFINITY, 3, 3, VN_AGREEMENT_SAME, 0 },
    { "hardly differs", 30, NAN, NAN, VN_AGREEMENT_SAME, 0 },
    { "close", 20, NAN, NAN, VN_AGREEMENT_ALIKE, 0 },
    { "far", 11.9, NAN, NAN, VN_AGREEMENT_OTHER, 0 },
    { "ten below the error", 32.1, 22.1, 21.9, VN_AGREEMENT_SAME, 0 },
    { "less than ten below", 32, 22.1, 21.5, VN_AGREEMENT_ALIKE, -0.6 },
    { "as large as the error", 11, 14.2, 13.8, VN_AGREEMENT_ALIKE, -0.4 },
    { "within three", 21, 22.1, 19.6, VN_AGREEMENT_ALIKE, -2.5 },
    { "beyond three", 11, 14.2, 11.1, VN_AGREEMENT_OTHER, -3.1 },
    { "better there", 11, 8, 14.2, VN_AGREEMENT_ALIKE, 6.2 },
    { "much worse, but hardly differs", 31, 60, 31, VN_AGREEMENT_ALIKE, -29 },
    { "exact here", 40, INFINITY, 40, VN_AGREEMENT_ALIKE, 0 },
    { "no numbers", NAN, 40, NAN, VN_AGREEMENT_OTHER, -INFINITY },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      const VnVerifiedOutput output = { (char *) "y", NULL, tests[i].between, tests[i].ours, tests[i].theirs, 0.1 };
      const double shift = tests[i].shift;
      g_autoptr(VnVerification) found = vn_verification_new ();
      double told;

      vn_verification_add (found, &output);
      told = vn_verification_get_shift_db (found, "y");
      g_test_message ("%s: %s, %g dB", tests[i].what, vn_agreement_get_id (vn_verified_output_judge (&output)), told);
      g_assert_cmpint (vn_verified_output_judge (&output), ==, tests[i].agreement);
      g_assert_cmpint (vn_verification_judge (found), ==, tests[i].agreement);
      g_assert_true (told == shift || fabs (told - shift) < 1e-9);
      g_assert_cmpfloat (vn_verification_get_shift_db (found, "z"), ==, 0);
    }
}

/* The output that agrees least counts, and what is refused agrees in nothing. */
static void
test_worst (void)
{
  const VnVerifiedOutput same = { NULL, NULL, INFINITY, NAN, NAN, 0 }, close = { NULL, NULL, 20, NAN, NAN, 0.1 },
  far = { NULL, NULL, 5, NAN, NAN, 1 };
  const VnVerifiedOutput nan = { NULL, NULL, NAN, NAN, NAN, 0 };
  g_autoptr(VnVerification) found = vn_verification_new ();
  g_autoptr(VnVerification) refused = vn_verification_new_refused (vn_target_runtime_get_default (), "no kernel");
  g_autofree char *fault = vn_verification_dup_fault (refused);
  VnRuntimeFigures figures;

  g_assert_true (isnan (vn_verification_get_worst_db (found)));
  vn_verification_add (found, &same);
  vn_verification_add (found, &close);
  g_assert_cmpint (vn_verification_judge (found), ==, VN_AGREEMENT_ALIKE);
  g_assert_cmpfloat (vn_verification_get_worst_db (found), ==, 20);
  vn_verification_add (found, &far);
  g_assert_cmpint (vn_verification_judge (found), ==, VN_AGREEMENT_OTHER);
  g_assert_cmpfloat (vn_verification_get_worst_db (found), ==, 5);
  vn_verification_add (found, &nan);
  g_assert_true (isnan (vn_verification_get_worst_db (found)));
  g_assert_cmpint (vn_verification_judge (refused), ==, VN_AGREEMENT_OTHER);
  g_assert_cmpstr (fault, ==, "no kernel");
  vn_runtime_figures_init (&figures, NULL, refused);
  g_assert_false (figures.time_measured || figures.share_measured);
}

/* A processor whose sums saturate is told apart from an export that is wrong. */
static void
test_saturates (void)
{
  const VnVerifiedOutput same = { NULL, NULL, INFINITY, NAN, NAN, 0 }, far = { NULL, NULL, 5, NAN, NAN, 1 },
  fair = { NULL, NULL, 20, NAN, NAN, 1 };
  const VnVerifiedOutput judged = { NULL, NULL, 20, 14.2, 13.8, 1 };   /* by the float network */
  const struct { gboolean saturates,
                 exact_agrees; double exact_db; const VnVerifiedOutput *output; gboolean is_saturated; const char *fault;
                 gboolean has_remedy; } cases[] = {
    { FALSE, FALSE, NAN,  &same,   FALSE, NULL,                    FALSE },
    { TRUE,  TRUE,  61,   &same,   FALSE, NULL,                    FALSE },
    { FALSE, FALSE, NAN,  &far,    FALSE, "1.32",     FALSE },
    { TRUE,  FALSE, 5,    &far,    FALSE, "VNNI",       TRUE },
    { TRUE,  FALSE, NAN,  &far,    FALSE, "VNNI",          TRUE },
    { TRUE,  TRUE,  61,   &far,    TRUE,  "61.0\u00a0dB", TRUE },
    { FALSE, FALSE, NAN,  &fair,   FALSE, NULL,                    FALSE },
    { TRUE,  TRUE,  61,   &fair,   TRUE,  "61.0\u00a0dB", TRUE },
    { TRUE,  TRUE,  21,   &fair,   FALSE, NULL,                    FALSE },
    { TRUE,  TRUE,  61,   &judged, FALSE, NULL,                    FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnVerification) found = vn_verification_new ();
      g_autofree char *fault = NULL, *remedy = NULL, *text = NULL;

      found->version = g_strdup ("1.32");
      found->saturates = cases[i].saturates;
      found->exact_agrees = cases[i].exact_agrees;
      found->exact_db = cases[i].exact_db;
      vn_verification_add (found, cases[i].output);
      fault = vn_verification_dup_fault (found);
      remedy = vn_verification_dup_remedy (found);
      text = vn_verification_dup_text (found);
      g_assert_cmpint (vn_verification_is_saturated (found), ==, cases[i].is_saturated);
      g_assert_cmpint (strstr (text, "saturate") != NULL, ==, cases[i].is_saturated);
      g_assert_cmpint (fault == NULL, ==, cases[i].fault == NULL);
      g_assert_true (fault == NULL || strstr (fault, cases[i].fault) != NULL);
      g_assert_cmpint (remedy != NULL, ==, cases[i].has_remedy);
      /* kernels that do not help are not offered */
      g_assert_true (remedy == NULL || (strstr (remedy, "x64quantprecision") != NULL) == cases[i].exact_agrees);
    }
}

static void
test_figures (void)
{
  const VnRuntimeForecast forecast = { .macs = 10, .integer_macs = 8, .seconds = 4, .conversion_seconds = 1, .float_seconds = 2 };
  g_autoptr(VnVerification) found = vn_verification_new ();
  g_autofree char *unknown = NULL, *forecast_text = NULL, *measured_text = NULL, *expected = NULL;
  VnRuntimeFigures figures;

  vn_runtime_figures_init (&figures, NULL, NULL);
  unknown = vn_runtime_figures_dup_ratio (&figures);
  g_assert_null (unknown);
  g_assert_true (isnan (figures.seconds) && isnan (figures.ratio) && isnan (figures.integer_share) && !figures.time_measured);
  vn_runtime_figures_init (&figures, &forecast, NULL);
  g_assert_cmpfloat (figures.ratio, ==, 2);
  g_assert_cmpfloat (vn_runtime_get_margin (), >, 1.05);
  g_assert_cmpfloat_with_epsilon (figures.least_ratio, 2 / vn_runtime_get_margin (), 1e-12);
  g_assert_cmpfloat_with_epsilon (figures.most_ratio, 2 * vn_runtime_get_margin (), 1e-12);
  forecast_text = vn_runtime_figures_dup_ratio (&figures);
  expected = g_strdup_printf ("about 2.0 times the latency of the float model (%.1f to %.1f)", figures.least_ratio,
                              figures.most_ratio);
  g_assert_cmpstr (forecast_text, ==, expected);
  g_assert_cmpfloat (figures.integer_share, ==, 0.8);
  g_assert_false (figures.time_measured || figures.share_measured);

  found->seconds = 0.003;   /* a time that was measured is not divided by one that was not */
  vn_runtime_figures_init (&figures, &forecast, found);
  g_assert_true (figures.time_measured && !figures.share_measured && isnan (figures.ratio) && isnan (figures.float_seconds));
  g_assert_cmpfloat (figures.integer_share, ==, 0.8);

  found->float_seconds = 0.002;
  found->integer_share = 0.5;
  vn_runtime_figures_init (&figures, &forecast, found);
  g_assert_cmpfloat_with_epsilon (figures.ratio, 1.5, 1e-12);
  g_assert_true (figures.least_ratio == figures.ratio && figures.most_ratio == figures.ratio);
  measured_text = vn_runtime_figures_dup_ratio (&figures);
  g_assert_cmpstr (measured_text, ==, "1.50 times the latency of the float model");
  g_assert_cmpfloat (figures.integer_share, ==, 0.5);
  g_assert_cmpfloat (figures.conversion_share, ==, 0.25);
  g_assert_true (figures.share_measured);
  vn_runtime_figures_init (&figures, NULL, found);
  g_assert_cmpfloat (figures.seconds, ==, 0.003);
}

/* What comes later of one kind keeps what is there of the other, in either order. */
static void
test_results (void)
{
  VnRun *base = vn_run_new ();
  g_autoptr(VnRun) noted = NULL, verified = NULL, explained = NULL, again = NULL;
  g_autoptr(VnVerification) found = vn_verification_new (), second = vn_verification_new ();
  g_autoptr(VnContributions) contributions = vn_contributions_new_empty ();
  g_autoptr(VnNotes) notes = vn_notes_new ();

  base->notes = vn_notes_new ();
  base->forecast = vn_runtime_forecast_new_empty ();
  noted = vn_run_with (base, VN_FACET_NOTES, notes);
  verified = vn_run_with (noted, VN_FACET_VERIFICATION, found);
  g_assert_true (verified->verification == found && verified->notes == notes && verified->forecast == base->forecast);
  g_assert_true (base->state == VN_RUN_PLANNED && noted->state == VN_RUN_PLANNED && verified->state == VN_RUN_VERIFIED);
  g_assert_true (base->verification == NULL && base->notes != notes);
  vn_run_unref (base);
  explained = vn_run_with (verified, VN_FACET_CONTRIBUTIONS, contributions);
  g_assert_true (explained->verification == found && explained->contributions == contributions &&
                 explained->forecast == verified->forecast);
  again = vn_run_with (explained, VN_FACET_VERIFICATION, second);
  g_assert_true (again->verification == second && again->contributions == contributions && again->forecast == verified->forecast);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verification/agrees", test_agrees);
  g_test_add_func ("/verification/worst", test_worst);
  g_test_add_func ("/verification/saturates", test_saturates);
  g_test_add_func ("/verification/figures", test_figures);
  g_test_add_func ("/verification/results", test_results);
  return g_test_run ();
}
