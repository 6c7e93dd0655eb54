/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time left, by a clock that is only counted: jobs whose stages took what was measured once of real networks, on machines of any
 * speed. After a tenth of the time the estimate is within a factor of two of the truth. */
#include "quantize-costs.h"
#include "vn-time-left.h"

#include <math.h>

#define MOST_PARTS 16
#define STEPS 200           /* of each job, at which one looks */
#define TICKS 20            /* that a part tells how far it is, if it does */
#define SECONDS 1.0         /* how far off it may be besides: the end of a job is no matter of factors */

typedef struct
{
  const char *stage;
  guint       part;
  double      seconds;      /* measured: two idle threads */
  gboolean    tells;
} Part;

typedef struct
{
  const char     *name;
  VnQuantizeFacts facts;
  Part            parts[MOST_PARTS];
} Recorded;

/* A decoder of 120 million weights, 128 tokens: prepared, quantized to 4 bits, compared; to 8 bits by ranges; with the error of
 * each matrix measured alone; and a small one whose weights are rounded by what samples say. */
#define DECODER .known = TRUE, .macs = 1.53e10, .weights = 4.78e8, .n_threads = 2, .n_judged = 16, .n_compared = 1, \
                .n_calibrated = 7, .n_learned = 7, .n_measured = 1, .n_matrices = 13

static const Recorded recorded[] = {
  { "decoder-4-bit", { DECODER },
    { { "prepare", 0, 0.67, FALSE }, { "prepare", 1, 2.7, TRUE }, { "prepare", 2, 2.6, TRUE }, { "check", 0, 0.01, FALSE },
      { "quantize", 0, 0.8, FALSE }, { "settings", 0, 0.01, FALSE }, { "compare", 0, 2.7, TRUE }, { "compare", 1, 4.9, FALSE },
      { "compare", 2, 0.4, FALSE } } },
  { "decoder-8-bit", { DECODER },
    { { "prepare", 0, 0.57, FALSE }, { "prepare", 1, 2.7, TRUE }, { "prepare", 2, 2.5, TRUE }, { "check", 0, 0.25, FALSE },
      { "calibrate", 0, 2.3, TRUE }, { "quantize", 0, 0.9, FALSE }, { "settings", 0, 0.01, FALSE }, { "compare", 0, 3.0, TRUE },
      { "compare", 1, 4.6, FALSE }, { "compare", 2, 0.4, FALSE } } },
  { "decoder-mixed", { DECODER, .searched = TRUE },
    { { "prepare", 0, 0.6, FALSE }, { "prepare", 1, 2.7, TRUE }, { "prepare", 2, 2.6, TRUE }, { "check", 0, 0.01, FALSE },
      { "weights", 0, 43, TRUE }, { "quantize", 0, 5.1, FALSE }, { "settings", 0, 0.01, FALSE }, { "compare", 0, 2.7, TRUE },
      { "compare", 1, 4.9, FALSE }, { "compare", 2, 0.4, FALSE } } },
  { "small-second-order",     /* of 0.8 million weights */
    { .known = TRUE, .macs = 9.6e7, .weights = 3.3e6, .n_threads = 2, .n_judged = 16, .n_compared = 3, .n_calibrated = 52,
      .n_learned = 37, .n_measured = 12, .n_matrices = 13, .solved = 7e7, .packed = TRUE },
    { { "prepare", 0, 0.12, FALSE }, { "prepare", 1, 0.08, TRUE }, { "prepare", 2, 0.05, TRUE }, { "check", 0, 0.01, FALSE },
      { "round-weights", 0, 3.2, TRUE }, { "quantize", 0, 0.03, FALSE }, { "settings", 0, 0.01, FALSE },
      { "compare", 0, 0.2, TRUE }, { "compare", 1, 0.15, FALSE }, { "compare", 2, 0.02, FALSE } } },
};

static double
get_seconds (const Part *parts)
{
  double sum = 0;

  for (const Part *part = parts; part->stage != NULL; part++)
    sum += part->seconds;
  return sum;
}

/* As VnJob does. */
static void
begin (VnTimeLeft     *left,
       const Recorded *job,
       const Part     *part,
       double          now)
{
  double rest = 0, behind = 0, cost = vn_quantize_cost (&job->facts, part->stage, 1, part->part, &behind);
  guint n = part->part;

  if (cost < 0)
    {
      vn_time_left_begin_unknown (left);
      return;
    }
  for (rest = behind, part++; part->stage != NULL; part++)
    if (part->part == 0)
      {
        behind = 0;
        rest += vn_quantize_cost (&job->facts, part->stage, 1, 0, &behind);
        rest += behind;
      }
  g_assert_cmpuint (n, <, MOST_PARTS);
  vn_time_left_begin (left, cost, rest, TRUE, now);
}

static void
test_recorded (gconstpointer data)
{
  const Recorded *job = data;
  static const double speeds[] = { 0.2, 0.6, 1, 2, 6 };
  guint n_compared = 0;

  for (guint s = 0; s < G_N_ELEMENTS (speeds); s++)
    {
      const double all = get_seconds (job->parts) * speeds[s];
      VnTimeLeft left = { 0 };
      double begun = 0;
      const Part *part = job->parts;

      begin (&left, job, part, 0);
      for (guint i = 1; i < STEPS; i++)
        {
          const double now = all * i / STEPS;
          double found;

          for (; now >= begun + part->seconds * speeds[s]; begin (&left, job, part, begun))
            begun += part++->seconds * speeds[s];
          if (part->tells)
            vn_time_left_report (&left, floor ((now - begun) / (part->seconds * speeds[s]) * TICKS) / TICKS);
          found = vn_time_left_get (&left, now);
          if (now < all / 10)
            continue;
          n_compared++;
          g_test_message ("%s, speed %g: after %.1f of %.1f s: %.1f", job->name, speeds[s], now, all, found);
          g_assert_cmpfloat (found, >=, (all - now) / 2 - SECONDS * speeds[s]);
          g_assert_cmpfloat (found, <=, (all - now) * 2 + SECONDS * speeds[s]);
        }
    }
  g_assert_cmpuint (n_compared, >, STEPS);
}

/* Without costs in seconds: nothing is told at first, and then the weights and what has been done tell it. */
static void
test_weights (void)
{
  VnTimeLeft left = { 0 };

  g_assert_cmpfloat (vn_time_left_get (&left, 0), <, 0);
  vn_time_left_begin (&left, 10, 30, FALSE, 100);
  g_assert_cmpfloat (vn_time_left_get (&left, 105), <, 0);
  vn_time_left_report (&left, 0.5);
  g_assert_cmpfloat_with_epsilon (vn_time_left_get (&left, 110), 10 + 60, 1e-9);
  vn_time_left_report (&left, 0.25);      /* workers tell it in any order */
  g_assert_cmpfloat_with_epsilon (vn_time_left_get (&left, 110), 10 + 60, 1e-9);
  vn_time_left_begin (&left, 20, 10, FALSE, 120);
  g_assert_cmpfloat_with_epsilon (vn_time_left_get (&left, 120), 40 + 20, 1e-9);
  g_assert_cmpfloat_with_epsilon (vn_time_left_get (&left, 130), 30 + 20, 1e-9);
  left = (VnTimeLeft) { 0 };              /* a first part that tells nothing is no measure */
  vn_time_left_begin (&left, 10, 90, FALSE, 0);
  vn_time_left_begin (&left, 80, 10, FALSE, 50);
  g_assert_cmpfloat (vn_time_left_get (&left, 51), <, 0);
  vn_time_left_report (&left, 0.5);
  g_assert_cmpfloat_with_epsilon (vn_time_left_get (&left, 90), 40 + 10, 1e-9);
  vn_time_left_begin_unknown (&left);
  g_assert_cmpfloat (vn_time_left_get (&left, 140), <, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (recorded); i++)
    {
      g_autofree char *path = g_strconcat ("/time-left/", recorded[i].name, NULL);

      g_test_add_data_func (path, &recorded[i], test_recorded);
    }
  g_test_add_func ("/time-left/weights", test_weights);

  return g_test_run ();
}
