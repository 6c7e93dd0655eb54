/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of long work: each line of the table has what a bench needs of it, and works end, are canceled and dropped as they
 * say. */
#include "bench-private.h"

#include "vn-jobs.h"

typedef struct
{
  GObject *owner;
  VnWorks *works;
  guint    n_ended;
  VnWork   work;
  gboolean had_error;
  gpointer subject;
} Fixture;

static Fixture *present;

static void
ended (gpointer      owner,
       VnWork        work,
       VnJob        *job,
       gpointer      subject,
       const GError *error)
{
  g_assert_true (owner == present->owner);
  present->n_ended++;
  present->work = work;
  present->had_error = error != NULL;
  present->subject = subject;
}

static const VnWorksFuncs funcs = { ended };

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  present = self;
  self->owner = g_object_new (G_TYPE_OBJECT, NULL);
  self->works = vn_works_new (self->owner, &funcs);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  vn_works_free (self->works);
  while (self->owner->ref_count > 1)     /* what was dropped is on its way still */
    g_main_context_iteration (NULL, TRUE);
  g_assert_finalize_object (self->owner);
  present = NULL;
}

static void
test_table (Fixture       *self,
            gconstpointer  data)
{
  guint n_places[VN_N_PLACES] = { 0 };

  for (VnWork work = VN_WORK_NONE + 1; work < VN_N_WORKS; work++)
    {
      const VnWorkInfo *info = vn_work_get_info (work);

      g_assert_cmpuint (info->place, <, VN_N_PLACES);
      g_assert_nonnull (vn_bench_works[work].take);
      n_places[info->place]++;
      if (info->flags & VN_WORK_TRIES)
        g_assert_cmpuint (info->place, ==, VN_PLACE_FRONT);
    }
  for (guint i = 0; i < VN_N_PLACES; i++)
    g_assert_cmpuint (n_places[i], >, 0);
  g_assert_cmpuint (n_places[VN_PLACE_FRONT], >, n_places[VN_PLACE_SEARCH]);
}

static VnJob *
start (Fixture *self,
       VnWork   work)
{
  VnJob *job = vn_open_job_new ("nothing-of-this-name.onnx");

  vn_works_start (self->works, work, job, g_object_ref (self->owner), g_object_unref);
  return job;
}

static void
wait_for_end (Fixture *self)
{
  while (self->n_ended == 0)
    g_main_context_iteration (NULL, TRUE);
}

/* In its place there is one at a time; others run beside it. */
static void
test_ends (Fixture       *self,
           gconstpointer  data)
{
  VnJob *job = start (self, VN_WORK_OPEN);

  g_assert_true (vn_works_get_job (self->works, VN_PLACE_FRONT) == job);
  g_assert_cmpint (vn_works_get_work (self->works, VN_PLACE_FRONT), ==, VN_WORK_OPEN);
  g_assert_true (vn_works_get_subject (self->works, VN_PLACE_FRONT) == self->owner);
  g_assert_null (vn_works_get_job (self->works, VN_PLACE_SEARCH));
  wait_for_end (self);
  g_assert_cmpuint (self->n_ended, ==, 1);
  g_assert_cmpint (self->work, ==, VN_WORK_OPEN);
  g_assert_true (self->had_error);
  g_assert_true (self->subject == self->owner);
  g_assert_null (vn_works_get_job (self->works, VN_PLACE_FRONT));
  g_assert_cmpint (vn_works_get_work (self->works, VN_PLACE_FRONT), ==, VN_WORK_NONE);
}

/* Nobody hears of what was dropped, also when something else has taken its place. */
static void
test_dropped (Fixture       *self,
              gconstpointer  data)
{
  g_assert_false (vn_works_drop (self->works, VN_PLACE_FRONT));
  start (self, VN_WORK_OPEN);
  g_assert_true (vn_works_drop (self->works, VN_PLACE_FRONT));
  start (self, VN_WORK_EXPORT);
  start (self, VN_WORK_ORIGINS);
  g_assert_true (vn_works_drop (self->works, VN_PLACE_SEARCH));
  wait_for_end (self);
  for (guint i = 0; i < 50; i++)
    g_main_context_iteration (NULL, FALSE);
  g_assert_cmpuint (self->n_ended, ==, 1);
  g_assert_cmpint (self->work, ==, VN_WORK_EXPORT);
}

/* Whoever is gone is not called. */
static void
test_freed (Fixture       *self,
            gconstpointer  data)
{
  start (self, VN_WORK_OPEN);
  start (self, VN_WORK_INSTALL);
  vn_works_free (g_steal_pointer (&self->works));
  while (self->owner->ref_count > 1)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (self->n_ended, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/works/table", Fixture, NULL, set_up, test_table, tear_down);
  g_test_add ("/works/ends", Fixture, NULL, set_up, test_ends, tear_down);
  g_test_add ("/works/dropped", Fixture, NULL, set_up, test_dropped, tear_down);
  g_test_add ("/works/freed", Fixture, NULL, set_up, test_freed, tear_down);
  return g_test_run ();
}
