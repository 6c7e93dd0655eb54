/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of very many blocks: nobody writes over another's memory while it lives, and little is wasted. The oracle is what every
 * byte of the arena holds at each step. */
#include "vn-plan-private.h"

#include <string.h>

#define UNIT 64u
#define MOST_BLOCKS 600u
#define N_STEPS 200u

typedef struct
{
  const char *name;
  guint       n, longest, most_units;
  double      waste;     /* of the least that an arena could have */
} Case;

static const Case cases[] = {
  { "one",                  1,           1,       4, 1 },
  { "chain",                N_STEPS - 1, 2,       1, 1 },
  { "all-together",         MOST_BLOCKS, N_STEPS, 1, 1 },
  { "equal-short",          MOST_BLOCKS, 9,       1, 1 },
  { "mixed-short",          MOST_BLOCKS, 9,       40, 1.35 },
  { "mixed-long",           MOST_BLOCKS, 150,     40, 1.35 },
};

/* Numbers of a fixed sequence, 0 .. @below - 1 */
static guint
next_number (guint32 *state,
             guint    below)
{
  *state = *state * 1664525u + 1013904223u;
  return (guint) ((guint64) (*state >> 8) * below >> 24);
}

static void
make_blocks (const Case *c,
             VnBlock    *blocks)
{
  guint32 state = 7;

  for (guint i = 0; i < c->n; i++)
    {
      guint first = c->longest == N_STEPS ? 0 : c->longest == 2 ? i : next_number (&state, N_STEPS);
      guint last = c->longest == N_STEPS ? N_STEPS - 1 : c->longest == 2 ? i + 1 : first + next_number (&state, c->longest);

      blocks[i] = (VnBlock) { (1 + next_number (&state, c->most_units)) * UNIT, G_MAXSIZE, first, MIN (last, N_STEPS - 1) };
    }
}

/* What lives at step @step, written into @arena; returns the bytes of all. */
static gsize
fill_arena (const VnBlock *blocks,
            guint          n,
            guint          step,
            guint16       *arena,
            gsize          n_units,
            guint         *n_alive)
{
  gsize bytes = 0;

  memset (arena, 0, n_units * sizeof *arena);
  *n_alive = 0;
  for (guint i = 0; i < n; i++)
    {
      if (blocks[i].first > step || blocks[i].last < step)
        continue;
      g_assert_cmpuint (blocks[i].offset % UNIT, ==, 0);
      g_assert_cmpuint (blocks[i].offset + blocks[i].size, <=, n_units * UNIT);
      for (gsize k = 0; k < blocks[i].size / UNIT; k++)
        {
          g_assert_cmpuint (arena[blocks[i].offset / UNIT + k], ==, 0);
          arena[blocks[i].offset / UNIT + k] = (guint16) (i + 1);
        }
      bytes += blocks[i].size;
      *n_alive += 1;
    }
  return bytes;
}

static void
test_sweep (gconstpointer data)
{
  const Case *c = data;
  VnBlock blocks[MOST_BLOCKS];
  gsize least, size, found = 0;
  guint most, n_alive, n_found = 0;
  g_autofree guint16 *arena = NULL;

  make_blocks (c, blocks);
  most = vn_blocks_measure (blocks, c->n, N_STEPS, &least);
  size = vn_blocks_sweep (blocks, c->n);
  arena = g_new (guint16, size / UNIT + 1);
  for (guint step = 0; step < N_STEPS; step++)
    {
      found = MAX (found, fill_arena (blocks, c->n, step, arena, size / UNIT, &n_alive));
      n_found = MAX (n_found, n_alive);
    }
  g_test_message ("%u alive, arena of %zu bytes, least %zu", most, size, least);
  g_assert_cmpuint (n_found, >, 0);
  g_assert_cmpuint (most, ==, n_found);
  g_assert_cmpuint (least, ==, found);
  g_assert_cmpuint (size, >=, least);
  g_assert_cmpfloat ((double) size, <=, c->waste * (double) least);
}

/* More than can be addressed is told, not added up wrongly. */
static void
test_too_large (void)
{
  const VnBlock blocks[] = { { G_MAXSIZE - 63, 0, 0, 1 }, { 128, 0, 1, 2 } };
  gsize least;

  g_assert_cmpuint (vn_blocks_measure (blocks, 2, 3, &least), ==, 2);
  g_assert_cmpuint (least, ==, G_MAXSIZE);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/sweep/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_sweep);
    }
  g_test_add_func ("/sweep/too-large", test_too_large);
  return g_test_run ();
}
