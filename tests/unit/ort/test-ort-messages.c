/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two processes tell each other arrives as it was sent, and what makes no sense is refused: of sizes, types and places, of
 * the shared memory, and of an end that is not there. */
#include "ort-message.h"

#include "vn-error.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void
make_pair (int ends[2])
{
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
}

static void
test_round_trip (void)
{
  VnOrtPlace places[2] = { { .dtype = VN_DTYPE_F32, .rank = 2, .dims = { 3, 4 }, .n_bytes = 48 },
                           { .dtype = VN_DTYPE_U8, .rank = 0, .offset = 64, .n_bytes = 1 } };
  VnOrtMessage sent = { .kind = VN_ORT_RUN, .part = 7, .shared_size = 128, .n_places = 2, .places = places,
                        .text = (char *) "a\nb" };
  g_auto(VnOrtMessage) got = { 0 };
  g_autoptr(GError) error = NULL;
  int ends[2];

  make_pair (ends);
  g_assert_true (vn_ort_message_send (&sent, ends[0], &error));
  g_assert_true (vn_ort_message_receive (&got, ends[1], 0, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (got.kind, ==, sent.kind);
  g_assert_cmpuint (got.part, ==, sent.part);
  g_assert_cmpuint (got.shared_size, ==, sent.shared_size);
  g_assert_cmpmem (got.places, got.n_places * sizeof *places, places, sizeof places);
  g_assert_cmpstr (got.text, ==, sent.text);
  close (ends[0]);
  close (ends[1]);
}

static void
test_nobody (void)
{
  static const int codes[] = { G_IO_ERROR_TIMED_OUT, G_IO_ERROR_CANCELLED, G_IO_ERROR_BROKEN_PIPE };
  VnOrtMessage sent = { .kind = VN_ORT_RUN };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  int ends[2];

  make_pair (ends);
  vn_ort_message_look_often (ends[0]);
  for (int way = 0; way < 3; way++)
    {
      g_auto(VnOrtMessage) got = { 0 };
      g_autoptr(GError) error = NULL;
      const gint64 until = way == 0 ? g_get_monotonic_time () + 1000 : 0;

      if (way == 1)
        g_cancellable_cancel (cancellable);
      if (way == 2)
        close (ends[1]);
      g_assert_false (vn_ort_message_receive (&got, ends[0], until, way < 2 ? cancellable : NULL, &error));
      g_assert_error (error, G_IO_ERROR, codes[way]);
      g_clear_error (&error);
      if (way == 2)
        {
          g_assert_false (vn_ort_message_send (&sent, ends[0], &error));
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
        }
    }
  close (ends[0]);
}

static void
test_nonsense (void)
{
  guint8 bytes[64];

  for (guint fill = 0; fill < 256; fill += 51)
    {
      g_auto(VnOrtMessage) got = { 0 };
      g_autoptr(GError) error = NULL;
      int ends[2];

      make_pair (ends);
      memset (bytes, (int) fill, sizeof bytes);
      g_assert_cmpint (write (ends[0], bytes, sizeof bytes), ==, sizeof bytes);
      g_assert_false (vn_ort_message_receive (&got, ends[1], 0, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      close (ends[0]);
      close (ends[1]);
    }
}

static void
test_places (void)
{
  static const struct { VnOrtPlace place; gboolean good; } cases[] = {
    { { .dtype = VN_DTYPE_F32, .rank = 2, .dims = { 2, 3 }, .offset = 40, .n_bytes = 24 }, TRUE },
    { { .dtype = VN_DTYPE_F32, .rank = 0, .offset = 60, .n_bytes = 4 }, TRUE },
    { { .dtype = VN_DTYPE_F32, .rank = 1, .dims = { 0 }, .offset = 64, .n_bytes = 0 }, TRUE },
    { { .dtype = VN_DTYPE_F32, .rank = 0, .offset = 61, .n_bytes = 4 }, FALSE },
    { { .dtype = VN_DTYPE_F32, .rank = 0, .offset = G_MAXUINT64 - 2, .n_bytes = 4 }, FALSE },
    { { .dtype = VN_DTYPE_F32, .rank = 2, .dims = { 2, 3 }, .n_bytes = 4 }, FALSE },
    { { .dtype = VN_DTYPE_F32, .rank = 2, .dims = { G_MAXINT64, 8 }, .n_bytes = 32 }, FALSE },
    { { .dtype = VN_DTYPE_F32, .rank = 1, .dims = { -1 }, .n_bytes = 4 }, FALSE },
    { { .dtype = VN_DTYPE_F32, .rank = -1, .n_bytes = 4 }, FALSE },
    { { .dtype = VN_DTYPE_F32, .rank = VN_MAX_RANK + 1, .n_bytes = 4 }, FALSE },
    { { .dtype = VN_DTYPE_STRING, .rank = 0, .n_bytes = 8 }, FALSE },
    { { .dtype = 4711, .rank = 0, .n_bytes = 1 }, FALSE },
    { { .dtype = -1, .rank = 0, .n_bytes = 1 }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      VnShape shape;

      g_test_message ("case %u", i);
      g_assert_cmpint (vn_ort_place_check (&cases[i].place, 64, &shape, &error), ==, cases[i].good);
      g_assert_cmpint (error == NULL, ==, cases[i].good);
    }
}

/* Each end sees what the other wrote, also after it has grown, and believes no size. */
static void
test_shared (void)
{
  VnOrtShared one = { .fd = memfd_create ("test", MFD_CLOEXEC) }, other = { .fd = dup (one.fd) };
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_ort_shared_grow (&one, 100, &error));
  one.data[99] = 42;
  g_assert_true (vn_ort_shared_map (&other, 100, &error));
  g_assert_cmpuint (other.data[99], ==, 42);
  g_assert_true (vn_ort_shared_grow (&other, 1 << 20, &error));
  other.data[(1 << 20) - 1] = 43;
  g_assert_true (vn_ort_shared_map (&one, 1 << 20, &error));
  g_assert_cmpuint (one.data[99], ==, 42);
  g_assert_cmpuint (one.data[(1 << 20) - 1], ==, 43);
  g_assert_no_error (error);
  g_assert_false (vn_ort_shared_map (&one, (gsize) 1 << 30, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
  vn_ort_shared_clear (&one);
  vn_ort_shared_clear (&other);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ort-messages/round-trip", test_round_trip);
  g_test_add_func ("/ort-messages/nobody", test_nobody);
  g_test_add_func ("/ort-messages/nonsense", test_nonsense);
  g_test_add_func ("/ort-messages/places", test_places);
  g_test_add_func ("/ort-messages/shared", test_shared);
  return g_test_run ();
}
