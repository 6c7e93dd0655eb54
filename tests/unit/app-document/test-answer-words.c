/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of two answers to a sample, and what a mask is painted with; the answers are made by hand. */
#include "vn-answer-mask.h"
#include "vn-answer-words.h"

#include <math.h>
#include <pango/pango.h>
#include <string.h>

static const char * const animals[] = { "cat", "dog", "h<e>n", NULL };
static const char * const letters[] = { "a", "b", "c", NULL };
static const char * const things[] = { "background", "road", "tree", NULL };

typedef struct
{
  VnKept              kept;
  VnAnswerForm        form;
  guint               n_classes, first_counts;
  const char         *first, *other;         /* a digit each: class, symbol, or pixel of a row */
  const char * const *names;
  const char         *row, *titles[2], *texts[2];
} Case;

#define ONE(task, n, kept, added, share) { VN_TASK_##task, 1, n, kept, added, share, NAN }

static const Case cases[] = {
  { ONE (CLASSIFICATION, 1, 1, 0, 1), VN_ANSWER_SCORES, 3, 0, "10", "12", animals, "dog",
    { "Float", "Quantized · same class" }, { "dog  0.9\ncat  0.8", "dog  0.9\nh<e>n  0.8" } },
  { ONE (CLASSIFICATION, 1, 0, 0, 0), VN_ANSWER_SCORES, 4, 0, "10", "30", animals, "cat → h<e>n",
    { "Float", "Quantized · class changed" }, { "cat  0.9\nclass 0  0.8", "h<e>n  0.9\nclass 0  0.8" } },
  { ONE (CLASSIFICATION, 1, 0, 0, 0), VN_ANSWER_SCORES, 9, 0, "5", "3", NULL, "class 5 → class 3",
    { "Float", "Quantized · class changed" }, { "class 5  0.9", "class 3  0.9" } },
  { ONE (TEXT, 1, 0, 0, 0), VN_ANSWER_SYMBOLS, 4, 0, "0132", "012", letters, "ab c → abc",
    { "Float", "Quantized · text differs" }, { "ab c", "abc" } },
  { ONE (TEXT, 1, 1, 0, 1), VN_ANSWER_SYMBOLS, 9, 0, "71", "71", letters, "7b",
    { "Float", "Quantized · same text" }, { "7b", "7b" } },
  { ONE (TEXT, 0, 0, 1, NAN), VN_ANSWER_SYMBOLS, 9, 0, "", "1", NULL, "no text → 1",
    { "Float", "Quantized · text differs" }, { "no text", "1" } },
  { ONE (TOKENS, 3, 2, 0, 2. / 3), VN_ANSWER_SYMBOLS, 9, 0, "123", "143", NULL, "2 of 3 kept",
    { "Float", "Quantized · 2 kept, 1 lost, 0 added" }, { "1 2 3", "1 4 3" } },
  { ONE (SEGMENTATION, 3, 0, 0, 0.25), VN_ANSWER_MASK, 3, 0, "0112", "0120", things, "mask IoU: 25.0\302\240%",
    { "Float", "Quantized · mask IoU: 25.0\302\240%" },
    { "■ road 50.0\302\240%   ■ tree 25.0\302\240%", "■ road 25.0\302\240%   ■ tree 25.0\302\240%" } },
  { ONE (SEGMENTATION, 1, 0, 0, 0.5), VN_ANSWER_MASK, 2, 1, "0110", "0100", NULL, "mask IoU: 50.0\302\240%",
    { "Float", "Quantized · mask IoU: 50.0\302\240%" }, { "■ mask 50.0\302\240%", "■ mask 25.0\302\240%" } },
  { ONE (SEGMENTATION, 0, 0, 0, NAN), VN_ANSWER_MASK, 2, 1, "00", "00", NULL, "nothing to compare",
    { "Float", "Quantized · nothing to compare" }, { "nothing found", "nothing found" } },
};

/* (transfer full) */
static GArray *
make_side (const Case *what,
           const char *digits)
{
  const gsize size = what->form == VN_ANSWER_SCORES ? sizeof (VnClassScore) : what->form == VN_ANSWER_MASK ? sizeof (guint16)
                                                                                                            : sizeof (guint);
  GArray *side = g_array_new (FALSE, TRUE, (guint) size);

  for (guint i = 0; digits[i] != '\0'; i++)
    {
      const guint number = (guint) (digits[i] - '0');
      const guint16 pixel = (guint16) number;
      const VnClassScore score = { number, 0.9 - 0.1 * i };

      g_array_append_vals (side, what->form == VN_ANSWER_SCORES ? (gconstpointer) &score
                                 : what->form == VN_ANSWER_MASK ? (gconstpointer) &pixel : &number, 1);
    }
  return side;
}

static VnSampleAnswer *
make_answer (const Case *what)
{
  VnSampleAnswer *answer = vn_sample_answer_new (0, &what->kept);

  answer->form = what->form;
  answer->n_classes = what->n_classes;
  answer->first_counts = what->first_counts;
  answer->mask_height = 1;
  answer->mask_width = (guint) strlen (what->first);
  answer->first = make_side (what, what->first);
  answer->other = make_side (what, what->other);
  if (what->form == VN_ANSWER_SYMBOLS)
    vn_sample_answer_align (answer);
  return answer;
}

static void
test_words (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnSampleAnswer) answer = make_answer (&cases[i]);
      g_autofree char *row = vn_answer_words_dup_row (answer, (char **) cases[i].names);

      g_test_message ("%u", i);
      g_assert_cmpstr (row, ==, cases[i].row);
      for (guint k = 0; k < 2; k++)
        {
          g_autofree char *title = vn_answer_words_dup_title (answer, (char **) cases[i].names, k);
          g_autofree char *markup = vn_answer_words_dup_markup (answer, (char **) cases[i].names, k);
          g_autofree char *spoken = vn_answer_words_dup_spoken (answer, (char **) cases[i].names, k), *text = NULL;

          g_assert_cmpstr (title, ==, cases[i].titles[k]);
          g_assert_true (pango_parse_markup (markup, -1, 0, NULL, &text, NULL, NULL));
          g_assert_cmpstr (text, ==, cases[i].texts[k]);
          g_assert_true (g_str_has_prefix (spoken, title) && strchr (spoken, '\n') == NULL && strlen (spoken) > strlen (title));
        }
    }
}

/* What only one of both texts has is underlined there, and nothing else. */
static void
test_underlined (void)
{
  static const Case what = { ONE (TEXT, 1, 0, 0, 0), VN_ANSWER_SYMBOLS, 3, 0, "012", "0211" };
  static const char * const expected[2] = { "ab<b><u>c</u></b>", "a<b><u>c</u></b>b<b><u>b</u></b>" };
  g_autoptr(VnSampleAnswer) answer = make_answer (&what);

  for (guint k = 0; k < 2; k++)
    {
      g_autofree char *markup = vn_answer_words_dup_markup (answer, (char **) letters, k);

      g_test_message ("%s", markup);
      g_assert_nonnull (strstr (markup, expected[k]));
    }
}

typedef struct { char kinds[2][17]; const char *first, *other; guint n_classes, first_counts; const char * const *names; } Mask;

/* As what each pixel of 16 in a row is painted: its class, "." nothing, "x" lost, "+" added. Stripes are 2 of 6 pixels wide, dots
 * 2 of 4; between them the class of the own side is seen. */
static void
test_mask (void)
{
  static const Mask masks[] = {
    { { "................", "................" }, "0000000000000000", "0000000000000000", 2, 1, NULL },
    { { "1111111111111111", "xx....xx....xx.." }, "1111111111111111", "0000000000000000", 2, 1, NULL },
    { { "1111111111111111", "xx2222xx2222xx22" }, "1111111111111111", "2222222222222222", 3, 0, things },
    { { "................", "++11++11++11++11" }, "0000000000000000", "1111111111111111", 3, 0, things },
    { { "0000000000000000", "xx1111xx1111xx11" }, "0000000000000000", "1111111111111111", 3, 0, animals },
    { { "................", "................" }, "0000000000000000", "0000000000000000", 3, 0, NULL },
    { { "1122112211221122", "1122112211221122" }, "1122112211221122", "1122112211221122", 3, 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    for (guint k = 0; k < 2; k++)
      {
        const Case what = { ONE (SEGMENTATION, 1, 0, 0, 0.5), VN_ANSWER_MASK, masks[i].n_classes, masks[i].first_counts,
                            masks[i].first, masks[i].other };
        g_autoptr(VnSampleAnswer) answer = make_answer (&what);
        g_autoptr(GBytes) bytes = vn_answer_mask_paint (answer, (char **) masks[i].names, k);
        const guint8 *pixels = g_bytes_get_data (bytes, NULL);
        char seen[17] = { 0 };

        for (guint x = 0; x < 16; x++)
          {
            const guint8 *p = &pixels[4 * x];
            const guint32 color = (guint32) p[0] << 16 | (guint32) p[1] << 8 | p[2];

            seen[x] = p[3] == 0 ? '.' : p[3] > 200 ? (p[1] < 0x50 ? 'x' : '+') : '?';
            for (guint c = 0; c < 3; c++)
              if (p[3] == 128 && color == vn_answer_mask_get_color (c))
                seen[x] = (char) ('0' + c);
          }
        g_test_message ("%u, %u: %s", i, k, seen);
        g_assert_cmpstr (seen, ==, masks[i].kinds[k]);
      }
}

/* Of all samples: counts are added up, of masks it is what the run says. */
static void
test_summary (void)
{
  static const struct { VnKept kept[2], all; const char *expected; } sums[] = {
    { { ONE (DETECTION, 11, 5, 1, 0), ONE (DETECTION, 3, 3, 0, 1) }, ONE (DETECTION, 14, 8, 1, 0.5), "8 of 14" },
    { { ONE (CLASSIFICATION, 1, 1, 0, 1), ONE (CLASSIFICATION, 1, 0, 0, 0) }, { 0 }, "1 of 2" },
    { { ONE (SEGMENTATION, 2, 0, 0, 0.5), ONE (SEGMENTATION, 2, 0, 0, 1) }, ONE (SEGMENTATION, 2, 0, 0, 0.813),
      "81.3\302\240%" },
    { { ONE (SEGMENTATION, 2, 0, 0, 0.5), ONE (SEGMENTATION, 2, 0, 0, 1) }, { 0 }, NULL },
    { { ONE (TEXT, 0, 0, 0, NAN), ONE (TEXT, 0, 0, 0, NAN) }, { 0 }, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sums); i++)
    {
      g_autoptr(GPtrArray) answers = vn_sample_answers_new ();
      g_autofree char *text = NULL;

      for (guint k = 0; k < 2; k++)
        g_ptr_array_add (answers, vn_sample_answer_new (k, &sums[i].kept[k]));
      text = vn_answer_words_dup_summary (answers, &sums[i].all);
      g_assert_cmpstr (text, ==, sums[i].expected);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/answer-words/words", test_words);
  g_test_add_func ("/answer-words/underlined", test_underlined);
  g_test_add_func ("/answer-words/mask", test_mask);
  g_test_add_func ("/answer-words/summary", test_summary);
  return g_test_run ();
}
