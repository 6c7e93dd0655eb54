/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes known by name: equal ones are the same number, and every expression says what the numbers would give. */
#include "vn-dims.h"

#include <math.h>

static VnDims *dims;
static gint64 h, w, n;

static void
begin (void)
{
  dims = vn_dims_new ();
  n = vn_dims_symbol (dims, "N", 1);
  h = vn_dims_symbol (dims, "H", 1);
  w = vn_dims_symbol (dims, "W", 1);
}

static void
end (void)
{
  g_clear_pointer (&dims, vn_dims_free);
}

static void
assert_text (gint64      number,
             const char *expected)
{
  g_autofree char *text = vn_dims_to_string (dims, number);

  g_assert_cmpstr (text, ==, expected);
}

static gint64
conv (gint64 x,
      gint64 kernel,
      gint64 stride,
      gint64 padding)
{
  return vn_dims_add (dims, vn_dims_floor_div (dims, vn_dims_add (dims, x, padding - kernel), stride), 1);
}

static void
test_texts (void)
{
  begin ();
  assert_text (h, "H");
  assert_text (vn_dims_add (dims, vn_dims_mul (dims, h, 2), 1), "2*H + 1");
  assert_text (vn_dims_sub (dims, 3, h), "-H + 3");
  assert_text (vn_dims_mul (dims, vn_dims_add (dims, h, 1), vn_dims_add (dims, w, -1)), "H*W - H + W - 1");
  assert_text (conv (h, 3, 2, 2), "floor((H + 1)/2)");
  assert_text (conv (conv (h, 3, 2, 2), 3, 2, 2), "floor((H + 3)/4)");
  assert_text (vn_dims_min (dims, h, 5), "min(H, 5)");
  assert_text (vn_dims_floor_div (dims, vn_dims_mul (dims, h, vn_dims_from_double (dims, 0.7)), 1), "floor(H*0.7)");
  assert_text (vn_dims_div (dims, h, 4), "H/4");
  assert_text (vn_dims_fresh (dims, 0), "unk__0");
  end ();
}

/* Written differently, the same. */
static void
test_equal (void)
{
  gint64 product, total;

  begin ();
  g_assert_cmpint (vn_dims_add (dims, h, w), ==, vn_dims_add (dims, w, h));
  g_assert_cmpint (vn_dims_sub (dims, vn_dims_add (dims, h, w), w), ==, h);
  g_assert_cmpint (vn_dims_sub (dims, h, h), ==, 0);
  product = vn_dims_mul (dims, vn_dims_mul (dims, n, vn_dims_add (dims, h, 1)), vn_dims_add (dims, w, 3));
  g_assert_cmpint (vn_dims_floor_div (dims, product, vn_dims_add (dims, w, 3)), ==,
                   vn_dims_mul (dims, n, vn_dims_add (dims, h, 1)));
  total = vn_dims_mul (dims, vn_dims_mul (dims, n, 12), h);
  g_assert_cmpint (vn_dims_floor_div (dims, total, vn_dims_mul (dims, h, 4)), ==, vn_dims_mul (dims, n, 3));
  g_assert_cmpint (vn_dims_floor_div (dims, vn_dims_mul (dims, n, h), vn_dims_mul (dims, n, 2)), ==,
                   vn_dims_floor_div (dims, h, 2));
  g_assert_cmpint (vn_dims_floor_div (dims, vn_dims_add (dims, vn_dims_mul (dims, h, 2), 1), 4), ==,
                   vn_dims_floor_div (dims, h, 2));
  g_assert_cmpint (vn_dims_floor_div (dims, vn_dims_mul (dims, h, vn_dims_from_double (dims, 0.5)), 1), ==,
                   vn_dims_floor_div (dims, h, 2));
  g_assert_cmpint (vn_dims_add (dims, vn_dims_mul (dims, vn_dims_floor_div (dims, h, 3), 3), vn_dims_mod (dims, h, 3)),
                   ==, h);
  g_assert_cmpint (vn_dims_symbol (dims, "H", 0), ==, h);
  g_assert_cmpint (vn_dims_fresh (dims, 0), !=, vn_dims_fresh (dims, 0));
  end ();
}

static void
test_bounds (void)
{
  gint64 half;

  begin ();
  half = conv (h, 3, 2, 2);
  g_assert_cmpint (vn_dims_get_lower (dims, h), ==, 1);
  g_assert_cmpint (vn_dims_get_lower (dims, vn_dims_add (dims, h, -1)), ==, 0);
  g_assert_cmpint (vn_dims_get_lower (dims, half), ==, 1);
  g_assert_cmpint (vn_dims_get_lower (dims, vn_dims_sub (dims, h, vn_dims_floor_div (dims, h, 2))), ==, 1);
  g_assert_cmpint (vn_dims_get_lower (dims, vn_dims_sub (dims, h, w)), ==, G_MININT64);
  g_assert_cmpint (vn_dims_max (dims, vn_dims_add (dims, h, -1), 0), ==, vn_dims_add (dims, h, -1));
  g_assert_cmpint (vn_dims_min (dims, h, vn_dims_add (dims, h, 2)), ==, h);
  g_assert_cmpint (vn_dims_min (dims, vn_dims_floor_div (dims, h, 2), h), ==, vn_dims_floor_div (dims, h, 2));
  end ();
}

static void
test_sizes (void)
{
  begin ();
  g_assert_cmpint (vn_dims_as_size (dims, 7), ==, 7);
  g_assert_cmpint (vn_dims_as_size (dims, -7), ==, VN_DIM_UNKNOWN);
  g_assert_cmpint (vn_dims_as_size (dims, h), ==, h);
  g_assert_cmpint (vn_dims_as_size (dims, vn_dims_div (dims, h, 2)), ==, VN_DIM_UNKNOWN);
  g_assert_cmpint (vn_dims_as_size (dims, vn_dims_mul (dims, h, vn_dims_from_double (dims, 0.7))), ==, VN_DIM_UNKNOWN);
  g_assert_cmpint (vn_dims_as_size (dims, vn_dims_fresh (dims, G_MININT64)), ==, VN_DIM_UNKNOWN);
  g_assert_cmpint (vn_dims_add (NULL, 1, 2), ==, VN_DIM_UNKNOWN);
  g_assert_cmpint (vn_dims_check (dims, h), ==, h);
  g_assert_cmpint (vn_dims_check (dims, 5), ==, 5);
  g_assert_cmpint (vn_dims_check (dims, -5), ==, VN_DIM_UNKNOWN);
  g_assert_cmpint (vn_dims_check (dims, h - 1), ==, VN_DIM_UNKNOWN);
  g_assert_cmpint (vn_dims_check (dims, h - 4000), ==, VN_DIM_UNKNOWN);
  g_assert_false (vn_dims_is_symbolic (VN_DIM_UNKNOWN));
  g_assert_false (vn_dims_is_symbolic (G_MININT64));
  g_assert_true (vn_dims_is_symbolic (h));
  end ();
}

/* What does not fit becomes a symbol, not nonsense. */
static void
test_hostile (void)
{
  gint64 power, deep;

  begin ();
  power = deep = h;
  for (int i = 0; i < 200; i++)
    {
      power = vn_dims_mul (dims, power, vn_dims_add (dims, w, h));
      deep = vn_dims_min (dims, vn_dims_floor_div (dims, vn_dims_mul (dims, deep, w), vn_dims_add (dims, n, i)), i);
      g_assert_true (vn_dims_is_symbolic (power));
    }
  power = vn_dims_mul (dims, h, G_MAXINT64);
  for (int i = 0; i < 8; i++)
    power = vn_dims_add (dims, vn_dims_mul (dims, power, power), G_MAXINT64 - i);
  g_assert_cmpint (vn_dims_mul (dims, G_MAXINT64, G_MAXINT64), !=, 1);
  vn_dims_floor_div (dims, h, 0);
  vn_dims_floor_div (dims, G_MININT64, -1);
  vn_dims_mod (dims, h, -3);
  vn_dims_ceil_div (dims, G_MAXINT64, h);
  vn_dims_floor_div (dims, vn_dims_sub (dims, 0, h), vn_dims_sub (dims, 0, w));
  vn_dims_from_double (dims, NAN);
  vn_dims_from_double (dims, -1e300);
  g_free (vn_dims_to_string (dims, deep));
  end ();
}

/* ---- random expressions, computed twice ---- */

typedef struct
{
  gint64 number;   /* symbolic */
  gint64 value;    /* for certain sizes */
} Pair;

static gint64
floor_quotient (gint64 a,
                gint64 b)
{
  return a / b - (a % b < 0);
}

static Pair
combine (GRand *rand,
         Pair   a,
         Pair   b)
{
  gint64 by = g_rand_int_range (rand, 1, 6);

  switch (g_rand_int_range (rand, 0, 8))
    {
    case 0:
      return (Pair) { vn_dims_add (dims, a.number, b.number), a.value + b.value };
    case 1:
      return (Pair) { vn_dims_sub (dims, a.number, b.number), a.value - b.value };
    case 2:
      return (Pair) { vn_dims_mul (dims, a.number, by), a.value * by };
    case 3:
      return (Pair) { vn_dims_floor_div (dims, a.number, by), floor_quotient (a.value, by) };
    case 4:
      return (Pair) { vn_dims_ceil_div (dims, a.number, by), -floor_quotient (-a.value, by) };
    case 5:
      return (Pair) { vn_dims_min (dims, a.number, b.number), MIN (a.value, b.value) };
    case 6:
      return (Pair) { vn_dims_max (dims, a.number, b.number), MAX (a.value, b.value) };
    default:
      return (Pair) { vn_dims_add (dims, a.number, by - 3), a.value + by - 3 };
    }
}

/* Two numbers are the same only if their values are, for any sizes; a lower bound is one. */
static void
test_random (void)
{
  for (guint32 seed = 0; seed < 400; seed++)
    {
      g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
      Pair pairs[24];

      begin ();
      pairs[0] = (Pair) { h, g_rand_int_range (rand, 1, 40) };
      pairs[1] = (Pair) { w, g_rand_int_range (rand, 1, 40) };
      for (guint i = 2; i < G_N_ELEMENTS (pairs); i++)
        {
          gint64 lower;

          pairs[i] = combine (rand, pairs[g_rand_int_range (rand, 0, (gint32) i)],
                              pairs[g_rand_int_range (rand, 0, (gint32) i)]);
          lower = vn_dims_get_lower (dims, pairs[i].number);
          g_assert_cmpint (lower, <=, pairs[i].value);
          if (!vn_dims_is_symbolic (pairs[i].number))
            g_assert_cmpint (pairs[i].number, ==, pairs[i].value);
          for (guint k = 0; k < i; k++)
            if (pairs[k].number == pairs[i].number)
              g_assert_cmpint (pairs[k].value, ==, pairs[i].value);
        }
      end ();
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/dims/texts", test_texts);
  g_test_add_func ("/ops/dims/equal", test_equal);
  g_test_add_func ("/ops/dims/bounds", test_bounds);
  g_test_add_func ("/ops/dims/sizes", test_sizes);
  g_test_add_func ("/ops/dims/hostile", test_hostile);
  g_test_add_func ("/ops/dims/random", test_random);
  return g_test_run ();
}
