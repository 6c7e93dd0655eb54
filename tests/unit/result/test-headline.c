/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a change gains of the figure that a run is judged by. */
#include "vn-headline.h"

#include <math.h>

static void
test_gain (void)
{
  VnHeadline before, after;
  g_autofree char *db = NULL, *share = NULL, *count = NULL, *hits = NULL, *right = NULL;

  vn_headline_clear (&before);
  vn_headline_clear (&after);
  g_assert_true (isnan (vn_headline_get_gain (&before, &after, VN_HEADLINE_OUTPUTS)));
  g_assert_null (vn_headline_dup_gain (&before, &after, VN_HEADLINE_ANSWERS));
  g_assert_null (vn_headline_dup_count (&before, &after, VN_HEADLINE_HITS));
  before.worst_db = 12;
  after.worst_db = 14.1;
  before.kept = (VnKept) { VN_TASK_DETECTION, 30, 243, 146, 8, 146 / 243., NAN };
  after.kept = (VnKept) { VN_TASK_DETECTION, 30, 243, 177, 8, 177 / 243., NAN };
  before.n_labeled = after.n_labeled = 40;
  before.n_right = 30;
  after.n_right = 29;
  db = vn_headline_dup_gain (&before, &after, VN_HEADLINE_OUTPUTS);
  share = vn_headline_dup_gain (&before, &after, VN_HEADLINE_ANSWERS);
  count = vn_headline_dup_count (&before, &after, VN_HEADLINE_ANSWERS);
  hits = vn_headline_dup_gain (&before, &after, VN_HEADLINE_HITS);
  right = vn_headline_dup_count (&before, &after, VN_HEADLINE_HITS);
  g_assert_cmpstr (db, ==, "+2.1\u00a0dB");
  g_assert_cmpstr (share, ==, "60.1 → 72.8\u00a0%");
  g_assert_cmpstr (count, ==, "+31 of 243");
  g_assert_cmpstr (hits, ==, "75.0 → 72.5\u00a0%");
  g_assert_cmpstr (right, ==, "\u22121 of 40");
  g_assert_null (vn_headline_dup_count (&before, &after, VN_HEADLINE_OUTPUTS));
  after.kept.task = VN_TASK_KEYPOINTS;      /* cannot be compared */
  g_assert_true (isnan (vn_headline_get_gain (&before, &after, VN_HEADLINE_ANSWERS)));
  before.worst_db = after.worst_db = INFINITY;
  g_assert_cmpfloat (vn_headline_get_gain (&before, &after, VN_HEADLINE_OUTPUTS), ==, 0);
}

/* Fewer answers than chance explains count; as many do not. */
static void
test_compare (void)
{
  const VnKept few = { VN_TASK_DETECTION, 30, 243, 146, 8, 146 / 243., NAN };
  const VnKept more = { VN_TASK_DETECTION, 30, 243, 200, 8, 200 / 243., NAN };
  const VnKept unknown = { 0 };

  g_assert_cmpint (vn_kept_compare (&more, &few), ==, 1);
  g_assert_cmpint (vn_kept_compare (&few, &more), ==, -1);
  g_assert_cmpint (vn_kept_compare (&few, &few), ==, 0);
  g_assert_cmpint (vn_kept_compare (&few, &unknown), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/headline/gain", test_gain);
  g_test_add_func ("/headline/compare", test_compare);
  return g_test_run ();
}
