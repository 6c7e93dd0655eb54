/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-digest.h"

#include <string.h>

static guint64
digest_of (gconstpointer data,
           gsize         size)
{
  VnDigest digest = { 0 };

  vn_digest_add (&digest, data, size);
  return vn_digest_get (&digest);
}

/* Every bit of every byte counts, at any length, and so does the length. */
static void
test_every_bit (void)
{
  guint8 data[100] = { 0 };
  g_autoptr(GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (gsize size = 0; size <= sizeof data; size++)
    {
      guint64 plain = digest_of (data, size);

      g_assert_true (g_hash_table_add (seen, g_memdup2 (&plain, sizeof plain)));
      for (gsize bit = 0; bit < 8 * size; bit++)
        {
          guint64 changed;

          data[bit / 8] ^= 1u << bit % 8;
          changed = digest_of (data, size);
          g_assert_true (g_hash_table_add (seen, g_memdup2 (&changed, sizeof changed)));
          data[bit / 8] ^= 1u << bit % 8;
        }
    }
}

static void
test_order (void)
{
  VnDigest a = { 0 }, b = { 0 }, c = { 0 };
  g_autofree char *text = NULL;

  vn_digest_add_string (&a, "ab");
  vn_digest_add_string (&a, "c");
  vn_digest_add_string (&b, "a");
  vn_digest_add_string (&b, "bc");
  vn_digest_add_string (&c, "c");
  vn_digest_add_string (&c, "ab");
  g_assert_cmphex (vn_digest_get (&a), !=, vn_digest_get (&b));
  g_assert_cmphex (vn_digest_get (&a), !=, vn_digest_get (&c));
  text = vn_digest_dup_text (&a);
  g_assert_cmpuint (strlen (text), ==, 32);
  vn_digest_add_string (&a, NULL);
  vn_digest_add_string (&b, "");
  g_assert_cmphex (vn_digest_get (&a), !=, vn_digest_get (&b));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/digest/every-bit", test_every_bit);
  g_test_add_func ("/digest/order", test_order);

  return g_test_run ();
}
