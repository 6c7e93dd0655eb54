/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Items that processes share: each is done by one of them, and all have what came of it; where one fails, all do. Processes are
 * played one after the other, and the last has what all have told. */
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"

#include "vn-error.h"

#include <string.h>

#define N 11u

typedef struct
{
  guint   n_done[N];
  guint64 found[N];
  guint   fails_at, silent_at;
} Items;

static gboolean
items_run (gsize      item,
           guint      worker,
           gpointer   data,
           GError   **error)
{
  Items *self = data;

  self->n_done[item]++;
  self->found[item] = 100 + item;
  if (item != self->fails_at)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC, "item %zu", item);
  return FALSE;
}

static GBytes *
items_pack (gsize      item,
            gpointer   data,
            GError   **error)
{
  const Items *self = data;

  return item != self->silent_at ? g_bytes_new (&self->found[item], sizeof self->found[item]) : NULL;
}

static gboolean
items_take (gsize           item,
            gconstpointer   bytes,
            gsize           size,
            gpointer        data,
            GError        **error)
{
  Items *self = data;
  g_autofree guint64 *found = vn_sample_ranks_dup (bytes, size, 1, sizeof *found, error);

  if (found != NULL)
    self->found[item] = *found;
  return found != NULL;
}

static const VnSharedFuncs items_funcs = { items_run, items_pack, items_take };

/* What processes have told that were played before, by rank; NULL: not yet. */
static GBytes *told[8];
static guint n_told, playing;

static GPtrArray *
play_gather (GBytes  *own,
             GError **error)
{
  GPtrArray *all;

  g_clear_pointer (&told[playing], g_bytes_unref);
  told[playing] = g_bytes_ref (own);
  if (playing > 0)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "played");
      return NULL;
    }
  all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  for (guint i = 0; i < n_told; i++)
    g_ptr_array_add (all, g_bytes_ref (told[i]));
  return all;
}

static void
play (guint rank,
      guint n)
{
  playing = rank;
  n_told = n;
  vn_sample_ranks_set (rank, n, play_gather);
}

static void
play_end (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    g_clear_pointer (&told[i], g_bytes_unref);
  vn_sample_ranks_set (0, 1, NULL);
}

static void
test_items (void)
{
  static const struct { guint n_ranks, n, n_threads; } rows[] = {
    { 1, N, 2 }, { 2, N, 1 }, { 3, N, 3 }, { 4, 2, 2 }, { 4, 0, 1 },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      guint n_done[N] = { 0 };

      for (guint rank = rows[r].n_ranks; rank-- > 0;)
        {
          Items items = { .fails_at = G_MAXUINT, .silent_at = 1 };
          g_autoptr(GError) error = NULL;

          play (rank, rows[r].n_ranks);
          g_assert_true (vn_sample_ranks_for (rows[r].n_threads, rows[r].n, &items_funcs, &items, NULL, &error) == (rank == 0));
          for (guint i = 0; i < rows[r].n; i++)
            {
              n_done[i] += items.n_done[i];
              g_assert_true (items.n_done[i] == 0 || vn_sample_ranks_is_own (i));
              if (rank == 0)      /* nobody told of number 1 */
                g_assert_cmpuint (items.found[i], ==, i == 1 && items.n_done[1] == 0 ? 0 : 100 + i);
            }
        }
      for (guint i = 0; i < N; i++)
        g_assert_cmpuint (n_done[i], ==, i < rows[r].n ? 1 : 0);
      play_end ();
    }
}

/* Whoever fails tells the others, who fail with the same. */
static void
test_failure (void)
{
  for (guint fails = 4; fails < 6; fails++)
    for (guint rank = 2; rank-- > 0;)
      {
        Items items = { .fails_at = fails, .silent_at = G_MAXUINT };
        g_autoptr(GError) error = NULL;

        play (rank, 2);
        g_assert_false (vn_sample_ranks_for (1, N, &items_funcs, &items, NULL, &error));
        if (rank == 0)
          {
            g_autofree char *message = g_strdup_printf ("item %u", fails);

            g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
            g_assert_cmpstr (error->message, ==, message);
          }
      }
  play_end ();
}

/* One that has told of another exchange, of items that do not exist, or nothing that can be read. */
static void
test_disagreement (void)
{
  static const struct { guint64 number, n_failure; const char *items; } rows[] = {
    { 2, 0, "[]" }, { 1, 99, "[]" }, { 1, 0, "[(11, b'12345678')]" }, { 1, 0, "[(3, b'1234')]" },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      Items items = { .fails_at = G_MAXUINT, .silent_at = G_MAXUINT };
      g_autoptr(GVariant) variant = g_variant_parse (G_VARIANT_TYPE ("a(tay)"), rows[r].items, NULL, NULL, NULL);
      const guint64 head[] = { rows[r].number, rows[r].n_failure };
      GByteArray *bytes = g_byte_array_new ();
      g_autoptr(GError) error = NULL;

      g_byte_array_append (bytes, (const guint8 *) head, sizeof head);
      g_byte_array_append (bytes, g_variant_get_data (variant), (guint) g_variant_get_size (variant));
      told[1] = g_byte_array_free_to_bytes (bytes);
      play (0, 2);
      g_assert_false (vn_sample_ranks_for (1, N, &items_funcs, &items, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      play_end ();
    }
}

static void
test_least (void)
{
  static const guint64 own[] = { 7, 3, 5 };
  guint64 least;

  g_assert_true (vn_sample_ranks_get_least (7, &least, NULL));
  g_assert_cmpuint (least, ==, 7);
  for (guint rank = G_N_ELEMENTS (own); rank-- > 0;)
    {
      play (rank, G_N_ELEMENTS (own));
      g_assert_true (vn_sample_ranks_get_least (own[rank], &least, NULL) == (rank == 0));
    }
  g_assert_cmpuint (least, ==, 3);
  play_end ();
}

/* ---- tensors ---- */

static void
test_tensors (void)
{
  static const VnDType dtypes[] = { VN_DTYPE_F32, VN_DTYPE_U8, VN_DTYPE_S64, VN_DTYPE_F16 };
  const VnShape shape = { 2, { 3, 5 } }, empty = { 1, { 0 } };
  VnTensor *tensors[G_N_ELEMENTS (dtypes) + 2] = { NULL }, *found[G_N_ELEMENTS (tensors)] = { NULL };
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;
  gsize size;
  const guint8 *data;

  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      tensors[i] = vn_tensor_new (dtypes[i], &shape, &error);
      g_assert_no_error (error);
      memset (tensors[i]->data, (int) i + 1, tensors[i]->n_bytes);
    }
  tensors[G_N_ELEMENTS (dtypes)] = vn_tensor_new (VN_DTYPE_F32, &empty, &error);
  bytes = vn_sample_pack_tensors (tensors, G_N_ELEMENTS (tensors), &error);
  g_assert_nonnull (bytes);
  data = g_bytes_get_data (bytes, &size);
  g_assert_true (vn_sample_take_tensors (data, size, found, G_N_ELEMENTS (found), &error));
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    {
      g_assert_true ((tensors[i] == NULL) == (found[i] == NULL));
      if (found[i] == NULL)
        continue;
      g_assert_cmpint (found[i]->dtype, ==, tensors[i]->dtype);
      g_assert_true (vn_shape_equal (&found[i]->shape, &tensors[i]->shape));
      g_assert_cmpmem (found[i]->data, found[i]->n_bytes, tensors[i]->data, tensors[i]->n_bytes);
    }
  vn_tensor_clear_all (found, G_N_ELEMENTS (found));
  for (gsize cut = 0; cut < size; cut += 8)
    {
      g_autoptr(GError) short_error = NULL;

      g_assert_false (vn_sample_take_tensors (data, cut, found, G_N_ELEMENTS (found), &short_error));
      g_assert_error (short_error, VN_ERROR, VN_ERROR_MALFORMED);
      vn_tensor_clear_all (found, G_N_ELEMENTS (found));
    }
  vn_tensor_clear_all (tensors, G_N_ELEMENTS (tensors));
}

/* Strings cannot be handed on. */
static void
test_strings (void)
{
  const VnShape shape = { 1, { 2 } };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) strings = vn_tensor_new (VN_DTYPE_STRING, &shape, &error);

  g_assert_no_error (error);
  g_assert_null (vn_sample_pack_tensors (&strings, 1, &error));
  g_assert_no_error (error);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sample-ranks/items", test_items);
  g_test_add_func ("/sample-ranks/failure", test_failure);
  g_test_add_func ("/sample-ranks/disagreement", test_disagreement);
  g_test_add_func ("/sample-ranks/least", test_least);
  g_test_add_func ("/sample-ranks/tensors", test_tensors);
  g_test_add_func ("/sample-ranks/strings", test_strings);
  return g_test_run ();
}
