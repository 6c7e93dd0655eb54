/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory whose size comes from a file: it is asked for, and a refusal is an error like any other. Small memory is asked
 * for as GLib does, which ends the process when there is none; so large memory leaves some for it. */
#include "vn-memory.h"

#include "vn-checked.h"
#include "vn-i18n.h"

#include <errno.h>
#include <gio/gio.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FRAME (32 << 20)               /* a picture of a whole screen */
#define LARGE ((gsize) 1 << 10)       /* from here on it counts whether room is left */
#define OFTEN ((gsize) 64 << 10)      /* and is looked at after so much, as looking costs system calls */
#define ROOM ((gsize) 16 << 20)       /* that stays free for small memory */
#define BUDGET_PART 32                 /* of the machine's memory */
#define LEAST_BUDGET ((gsize) 64 << 20)
#define MOST_BUDGET ((gsize) 256 << 20)
#define GROWTH_PART 16                 /* of the machine's memory */
#define LEAST_GROWTH ((gsize) 1 << 30)
#define MOST_GROWTH ((gsize) 4 << 30)

static gint n_refused;                /* atomic */
static gsize last_refused;            /* atomic: bytes */
static gsize given_budget;            /* atomic: bytes; 0: by the machine */
static gsize given_growth;            /* atomic: bytes; 0: by the machine */

/* What the limits of this process leave; G_MAXSIZE without limits. */
static gsize
memory_left (void)
{
  struct rlimit space, data;
  unsigned long long n_space = 0, n_data = 0;
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  FILE *file;
  gboolean known;

  if (getrlimit (RLIMIT_AS, &space) != 0 || getrlimit (RLIMIT_DATA, &data) != 0 ||
      (space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY))
    return G_MAXSIZE;
  file = fopen ("/proc/self/statm", "re");
  if (file == NULL)
    return G_MAXSIZE;
  known = fscanf (file, "%llu %*u %*u %*u %*u %llu", &n_space, &n_data) == 2;
  fclose (file);
  if (!known)
    return G_MAXSIZE;
  n_space = space.rlim_cur == RLIM_INFINITY ? G_MAXSIZE : space.rlim_cur - MIN (space.rlim_cur, n_space * page);
  n_data = data.rlim_cur == RLIM_INFINITY ? G_MAXSIZE : data.rlim_cur - MIN (data.rlim_cur, n_data * page);
  return (gsize) MIN (n_space, n_data);
}

/**
 * vn_memory_has_room:
 * @size: bytes
 *
 * Returns: whether the limits of this process leave so much
 */
gboolean
vn_memory_has_room (gsize size)
{
  return memory_left () >= size;
}

/* Whether so many bytes more, which were given, leave room for small memory. */
static gboolean
memory_leaves_room (gsize bytes)
{
  static _Thread_local gsize since;

  if (bytes < LARGE)
    return TRUE;
  since += MIN (bytes, OFTEN);
  if (since < OFTEN)
    return TRUE;
  since = 0;
  return vn_memory_has_room (ROOM);
}

/**
 * vn_memory_try:
 *
 * For what can be done without: a refusal is not counted as one.
 *
 * Returns: (transfer full) (nullable): @n × @size bytes, not cleared, to be freed with g_free(); never %NULL for lack of
 *   size alone: no bytes are one
 */
gpointer
vn_memory_try (gsize n,
               gsize size)
{
  gpointer memory = NULL;
  gsize bytes;

  if (vn_checked_mul (n, size, &bytes) && bytes <= G_MAXSSIZE)
    memory = g_try_malloc (MAX (bytes, 1));
  if (memory != NULL && !memory_leaves_room (bytes))
    g_clear_pointer (&memory, g_free);
  return memory;
}

/**
 * vn_memory_alloc:
 *
 * Returns: (transfer full) (nullable): as vn_memory_try(); %NULL with %VN_ERROR_MEMORY
 */
gpointer
vn_memory_alloc (gsize    n,
                 gsize    size,
                 GError **error)
{
  gpointer memory = vn_memory_try (n, size);
  gsize bytes = G_MAXSIZE;

  if (memory == NULL)
    {
      vn_checked_mul (n, size, &bytes);
      vn_memory_set_error (bytes, error);
    }
  return memory;
}

/**
 * vn_memory_alloc0:
 *
 * Returns: (transfer full) (nullable): as vn_memory_alloc(), all zero
 */
gpointer
vn_memory_alloc0 (gsize    n,
                  gsize    size,
                  GError **error)
{
  gpointer memory = vn_memory_alloc (n, size, error);

  return memory != NULL ? memset (memory, 0, n * size) : NULL;
}

/**
 * vn_memory_dup:
 * @data: (nullable) (array length=n): of elements of @size bytes
 *
 * Returns: (transfer full) (nullable): a copy; %NULL with %VN_ERROR_MEMORY
 */
gpointer
vn_memory_dup (gconstpointer   data,
               gsize           n,
               gsize           size,
               GError        **error)
{
  gpointer memory = vn_memory_alloc (n, size, error);

  if (memory != NULL && n * size > 0)
    memcpy (memory, data, n * size);
  return memory;
}

/**
 * vn_memory_dup_text:
 * @data: (nullable) (array length=size)
 *
 * Returns: (transfer full) (nullable): a copy up to the first NUL, with one behind it; there is as much left to cut it into
 *   lines. %NULL with %VN_ERROR_MEMORY
 */
char *
vn_memory_dup_text (gconstpointer   data,
                    gsize           size,
                    GError        **error)
{
  char *text = vn_memory_expect (2 * size, error) ? vn_memory_alloc (size + 1, 1, error) : NULL;

  if (text == NULL)
    return NULL;
  if (size > 0)
    memcpy (text, data, size);
  text[size] = '\0';
  return text;
}

/**
 * vn_memory_try_aligned:
 * @alignment: a power of two
 *
 * As vn_memory_try(): whoever needs it calls vn_memory_set_error().
 *
 * Returns: (transfer full) (nullable): @size bytes, not cleared, to be freed with free()
 */
gpointer
vn_memory_try_aligned (gsize size,
                       gsize alignment)
{
  gpointer memory = NULL;

  if (size > G_MAXSSIZE || posix_memalign (&memory, alignment, MAX (size, 1)) != 0)
    return NULL;
  if (memory_leaves_room (size))
    return memory;
  free (memory);
  return NULL;
}

static void
memory_set_text (gsize    size,
                 GError **error)
{
  if (size > 0)
    g_set_error (error, VN_ERROR, VN_ERROR_MEMORY, _("Out of memory: could not allocate another %zu bytes"), size);
  else
    g_set_error_literal (error, VN_ERROR, VN_ERROR_MEMORY, _("Out of memory"));
}

/**
 * vn_memory_set_error:
 * @size: bytes that were refused, 0: unknown
 *
 * Counts the refusal and sets %VN_ERROR_MEMORY.
 */
void
vn_memory_set_error (gsize    size,
                     GError **error)
{
  __atomic_store_n (&last_refused, size, __ATOMIC_RELAXED);
  g_atomic_int_inc (&n_refused);
  memory_set_text (size, error);
}

/**
 * vn_memory_expect:
 * @size: bytes that will be asked for in small pieces
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY if the limits of this process do not leave so much
 */
gboolean
vn_memory_expect (gsize    size,
                  GError **error)
{
  if (size <= G_MAXSIZE - ROOM && vn_memory_has_room (size + ROOM))
    return TRUE;
  vn_memory_set_error (size, error);
  return FALSE;
}

/**
 * vn_memory_mark:
 *
 * Returns: what vn_memory_check() needs to know about now
 */
guint
vn_memory_mark (void)
{
  return (guint) g_atomic_int_get (&n_refused);
}

/**
 * vn_memory_check:
 * @mark: of vn_memory_mark()
 *
 * Many functions have no way to fail and leave something out. A result that was made while memory was refused may
 * lack something, and is none.
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY if memory was refused since @mark
 */
gboolean
vn_memory_check (guint    mark,
                 GError **error)
{
  gsize size = __atomic_load_n (&last_refused, __ATOMIC_RELAXED);

  if (vn_memory_mark () == mark)
    return TRUE;
  memory_set_text (size, error);
  return FALSE;
}

/**
 * vn_error_is_memory:
 * @error: (nullable)
 *
 * Returns: whether memory was refused, here or below: to map a file, or to start a thread
 */
gboolean
vn_error_is_memory (const GError *error)
{
  return g_error_matches (error, VN_ERROR, VN_ERROR_MEMORY) || g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOMEM) ||
         g_error_matches (error, G_THREAD_ERROR, G_THREAD_ERROR_AGAIN);
}

/* 0 if the machine does not tell how much it has. */
static gsize
memory_part_of_machine (guint part)
{
  static gsize n_pages;   /* and 1: asking costs a system call */
  long page = sysconf (_SC_PAGESIZE);

  if (g_once_init_enter (&n_pages))
    g_once_init_leave (&n_pages, (gsize) MAX (sysconf (_SC_PHYS_PAGES), 0) + 1);
  return page > 0 ? (n_pages - 1) / part * (gsize) page : 0;
}

/**
 * vn_memory_get_budget:
 *
 * How much may be taken beside the weights by work on samples: how many of them are run at a time goes by it, and what is kept
 * only so that it need not be computed again. What does not fit waits, or is computed again, with the same bits. It goes by the
 * memory of the machine and by what the limits of this process leave.
 *
 * Returns: bytes
 */
gsize
vn_memory_get_budget (void)
{
  gsize given = __atomic_load_n (&given_budget, __ATOMIC_RELAXED);

  return given > 0 ? given : MIN (CLAMP (memory_part_of_machine (BUDGET_PART), LEAST_BUDGET, MOST_BUDGET), memory_left () / 4);
}

/**
 * vn_memory_set_budget:
 * @size: bytes; 0: by the memory of the machine
 *
 * Sets what vn_memory_get_budget() tells.
 */
void
vn_memory_set_budget (gsize size)
{
  __atomic_store_n (&given_budget, size, __ATOMIC_RELAXED);
}

/**
 * vn_memory_get_growth:
 *
 * How much a network may make of itself: of values whose sizes do not follow from its file and its inputs but show only while
 * it runs, of what loops and sequences gather, of constants that are computed from smaller ones. A few hundred bytes of a file
 * can ask for any amount; what people use stays far below. It goes by the memory of the machine: a sixteenth, 1 GB to 4 GB.
 *
 * Returns: bytes
 */
gsize
vn_memory_get_growth (void)
{
  gsize given = __atomic_load_n (&given_growth, __ATOMIC_RELAXED);

  return given > 0 ? given : CLAMP (memory_part_of_machine (GROWTH_PART), LEAST_GROWTH, MOST_GROWTH);
}

/**
 * vn_memory_set_growth:
 * @size: bytes; 0: by the memory of the machine
 *
 * Sets what vn_memory_get_growth() tells.
 */
void
vn_memory_set_growth (gsize size)
{
  __atomic_store_n (&given_growth, size, __ATOMIC_RELAXED);
}

/**
 * vn_memory_keep_frames:
 *
 * Lets the memory of one picture of a window serve for the next: otherwise the system takes it back and clears it anew for each,
 * which takes longer than painting. To be called before there are threads.
 */
void
vn_memory_keep_frames (void)
{
#ifdef __GLIBC__
  mallopt (M_MMAP_THRESHOLD, FRAME);   /* what it comes to by itself, in time */
  mallopt (M_TRIM_THRESHOLD, 2 * FRAME);
#endif
}

/**
 * vn_memory_share_heap:
 *
 * Where limits are set to this process, has all threads take small memory from one heap: each heap reserves 64 MB, and a thread
 * that finds no room for one of its own would take a whole page for each few bytes. To be called before there are threads.
 */
void
vn_memory_share_heap (void)
{
#ifdef __GLIBC__
  if (memory_left () < G_MAXSIZE)
    mallopt (M_ARENA_MAX, 1);
#endif
}

/**
 * vn_memory_give_back:
 *
 * Gives memory that was freed back to the system: after work that took much, threads keep what they had for work that may not
 * come. Takes up to a tenth of a second.
 */
void
vn_memory_give_back (void)
{
#ifdef __GLIBC__
  malloc_trim (0);
#endif
}

/* ---- bytes that grow ---- */

/**
 * vn_buffer_reserve:
 *
 * Returns: %FALSE if there is no memory for @size bytes more; @self->failed then
 */
gboolean
vn_buffer_reserve (VnBuffer *self,
                   gsize     size)
{
  gsize wanted;
  char *data;

  if (!self->failed && vn_checked_add (self->size, size, &wanted) && wanted < self->room)
    return TRUE;
  if (self->failed || !vn_checked_add (self->size, size, &wanted) || wanted > G_MAXSSIZE / 2)
    {
      self->failed = TRUE;
      return FALSE;
    }
  wanted = MAX (wanted + 1, wanted + wanted / 2);
  data = vn_memory_try (wanted, 1);
  if (data == NULL)
    {
      vn_memory_set_error (wanted, NULL);
      self->failed = TRUE;
      return FALSE;
    }
  if (self->size > 0)
    memcpy (data, self->data, self->size);
  data[self->size] = '\0';
  g_free (self->data);
  self->data = data;
  self->room = wanted;
  return TRUE;
}

/**
 * vn_buffer_add:
 * @data: (array length=size)
 *
 * Returns: %FALSE if there is no memory for it; @self->failed then
 */
gboolean
vn_buffer_add (VnBuffer     *self,
               gconstpointer data,
               gsize         size)
{
  if (!vn_buffer_reserve (self, size))
    return FALSE;
  if (size > 0)
    memcpy (self->data + self->size, data, size);
  self->size += size;
  self->data[self->size] = '\0';
  return TRUE;
}

void
vn_buffer_clear (VnBuffer *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->data);
  *self = (VnBuffer) { 0 };
}

/**
 * vn_buffer_steal_bytes:
 *
 * Returns: (transfer full) (nullable): what was added; @self is empty then. %NULL with %VN_ERROR_MEMORY if something could
 *   not be
 */
GBytes *
vn_buffer_steal_bytes (VnBuffer  *self,
                       GError   **error)
{
  GBytes *bytes;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->failed)
    {
      vn_memory_set_error (self->size, error);
      return NULL;
    }
  bytes = g_bytes_new_take (g_steal_pointer (&self->data), self->size);
  vn_buffer_clear (self);
  return bytes;
}
