/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "loop-watch.h"

#include "pace.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N_FRAMES   48
#define N_SAMPLES  12
#define FIRST_MS   20      /* of a turn: looked at from then on */
#define EVERY_MS    8

typedef struct
{
  void *frames[N_FRAMES];
  int   n;
} Sample;

typedef struct
{
  const char *name;
  double      longest;
  double      most;
  guint       n_over;
  Sample      samples[N_SAMPLES];   /* of the longest turn */
  guint       n_samples;
} Step;

static GPtrArray *steps;
static GArray *best;         /* (nullable): of double: of each step the least of what its longest turns took */
static Step *step;
static double begun;
static GPollFunc poll_before;
static timer_t timer;
static Sample samples[N_SAMPLES];
static volatile guint n_samples;

static void
set_timer (long first,
           long every)
{
  struct itimerspec spec = { .it_interval.tv_nsec = every * 1000000, .it_value.tv_nsec = first * 1000000 };

  timer_settime (timer, 0, &spec, NULL);
}

/* In the main thread, in the middle of what it does. */
static void
take_sample (int signal)
{
  if (n_samples < N_SAMPLES)
    {
      samples[n_samples].n = backtrace (samples[n_samples].frames, N_FRAMES);
      n_samples++;
    }
}

static void
end_turn (void)
{
  double took = vn_test_get_own_time () - begun;

  set_timer (0, 0);
  if (step == NULL)
    return;
  took = vn_test_even_out (took, LOOP_WATCH_LIMIT);
  step->n_over += took > LOOP_WATCH_LIMIT;
  if (took <= step->longest)
    return;
  step->longest = took;
  step->n_samples = n_samples;
  memcpy (step->samples, samples, sizeof samples);
}

static int
watch_poll (GPollFD *fds,
            guint    n_fds,
            int      timeout)
{
  int result;

  end_turn ();
  result = poll_before (fds, n_fds, timeout);
  n_samples = 0;
  begun = vn_test_get_own_time ();
  set_timer (FIRST_MS, EVERY_MS);
  return result;
}

void
loop_watch_start (void)
{
  struct sigaction action = { .sa_handler = take_sample, .sa_flags = SA_RESTART };
  struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
  void *frames[2];

  backtrace (frames, G_N_ELEMENTS (frames));   /* loads what it needs now, not in the handler */
  event._sigev_un._tid = (pid_t) syscall (SYS_gettid);
  sigaction (SIGPROF, &action, NULL);
  g_assert_cmpint (timer_create (CLOCK_THREAD_CPUTIME_ID, &event, &timer), ==, 0);
  steps = g_ptr_array_new_with_free_func (g_free);
  poll_before = g_main_context_get_poll_func (NULL);
  begun = vn_test_get_own_time ();
  g_main_context_set_poll_func (NULL, watch_poll);
}

void
loop_watch_begin (const char *name)
{
  if (steps == NULL)
    return;
  end_turn ();
  step = g_new0 (Step, 1);
  step->name = name;
  step->most = LOOP_WATCH_LIMIT;
  g_ptr_array_add (steps, step);
  n_samples = 0;
  begun = vn_test_get_own_time ();
  set_timer (FIRST_MS, EVERY_MS);
}

void
loop_watch_allow (double milliseconds)
{
  if (step != NULL)
    step->most = milliseconds;
}

void
loop_watch_pause (void)
{
  if (steps == NULL)
    return;
  end_turn ();
  step = NULL;
}

void
loop_watch_tell (void)
{
  for (guint i = 0; steps != NULL && i < steps->len; i++)
    {
      const Step *told = g_ptr_array_index (steps, i);

      g_print ("# %-44s %6.1f ms%s\n", told->name, told->longest, told->n_over > 0 ? " !" : "");
    }
}

/* "program(function+0x12) [0x34]"; static functions have no name, but in the program an address that addr2line knows. */
static void
tell_frame (const char *text)
{
  const char *name = strchr (text, '(');

  if (name != NULL && (name[1] != '+' || strstr (text, ".so") == NULL))
    g_print (" < %.*s", (int) strcspn (name + 1, ")"), name + 1);
}

static void
tell_samples (const Step *told)
{
  for (guint i = 0; i < told->n_samples; i++)
    {
      char **names = backtrace_symbols (told->samples[i].frames, told->samples[i].n);

      g_print ("#   ");
      for (int k = 2; names != NULL && k < told->samples[i].n; k++)   /* without the handler */
        tell_frame (names[k]);
      g_print ("\n");
      free (names);
    }
}

void
loop_watch_forget (void)
{
  g_clear_pointer (&best, g_array_unref);
}

/* Returns: the least it took so far */
static double
note_best (guint       i,
           const Step *told)
{
  if (best == NULL)
    best = g_array_new (FALSE, FALSE, sizeof (double));
  if (i == best->len)
    g_array_append_val (best, told->longest);
  g_assert_cmpuint (i, <, best->len);
  g_array_index (best, double, i) = MIN (g_array_index (best, double, i), told->longest);
  return g_array_index (best, double, i);
}

guint
loop_watch_end (void)
{
  guint n = 0;

  if (steps == NULL)
    return 0;
  end_turn ();
  g_main_context_set_poll_func (NULL, poll_before);
  timer_delete (timer);
  step = NULL;
  for (guint i = 0; i < steps->len; i++)
    {
      const Step *told = g_ptr_array_index (steps, i);

      n += note_best (i, told) > told->most;
      if (told->n_over == 0)
        continue;
      g_print ("# %s: %u times over %g ms, at most %.1f ms; from %d ms on it was at:\n", told->name, told->n_over,
               LOOP_WATCH_LIMIT,
               told->longest, FIRST_MS);
      tell_samples (told);
    }
  g_clear_pointer (&steps, g_ptr_array_unref);
  return n;
}
