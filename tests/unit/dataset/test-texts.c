/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Plain text as samples: which files are taken for text, by which tokenizer, and how texts are cut. The numbers of all forms of
 * tokenizers: tests/oracle/tokenizers_files.py. */

#include "folder-fixture.h"

#include "vn-error.h"
#include "vn-tokenizer.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

/* a is 0, b 1, and so on to z: 25; a blank is 26; a text begins with 27. */
static char *
make_tokenizer (guint first)
{
  GString *text = g_string_new ("{\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\":"
                                " \"<s>\"}}, {\"Sequence\": {\"id\": \"A\"}}], \"special_tokens\": {\"<s>\": {\"ids\": [27]}}},"
                                " \"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {\" \": 26, \"<s>\": 27");

  for (char c = 'a'; c <= 'z'; c++)
    g_string_append_printf (text, ", \"%c\": %u", c, first + (guint) (c - 'a'));
  g_string_append (text, "}}}");
  return g_string_free (text, FALSE);
}

#define TOKENS(length) { (char *) "input_ids", VN_DTYPE_S64, { 2, { 1, length } }, 28 }

static char *
describe_samples (VnDataset *dataset)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    {
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_true (vn_dataset_load (dataset, i, &tensor, NULL));
      g_string_append_printf (text, "%s%s", i > 0 ? "; " : "", vn_dataset_get_name (dataset, i));
      if (vn_dataset_get_n_seen (dataset, i) > 0)
        g_string_append_printf (text, " (%u)", vn_dataset_get_n_seen (dataset, i));
      g_string_append_c (text, ':');
      for (gsize k = 0; k < tensor->n_elements; k++)
        g_string_append_printf (text, " %d", (int) vn_tensor_get_s64 (tensor, k));
    }
  return g_string_free (text, FALSE);
}

/* @samples: NULL: it cannot be opened, with @code */
static const struct
{
  const char *path;
  gint64      length;        /* of the input; VN_DIM_UNKNOWN: any */
  guint       window, stride, max;
  const char *tokenizer, *samples;
  int         code;
} cases[] = {
  { "beside/a.txt", VN_DIM_UNKNOWN, 0, 0, 0, NULL, "a.txt: 27 0 1 2 26 3 4", 0 },
  { "beside/a.txt", 3, 0, 0, 0, NULL, "a.txt #0: 27 0 1; a.txt #1: 2 26 3", 0 },
  { "beside/a.txt", VN_DIM_UNKNOWN, 3, 0, 0, NULL, "a.txt #0: 27 0 1; a.txt #1: 2 26 3", 0 },
  { "beside/a.txt", VN_DIM_UNKNOWN, 4, 2, 0, NULL, "a.txt #0: 27 0 1 2; a.txt #1 (2): 1 2 26 3", 0 },
  { "beside/a.txt", VN_DIM_UNKNOWN, 4, 1, 2, NULL, "a.txt #0: 27 0 1 2; a.txt #2 (3): 1 2 26 3", 0 },
  { "beside/a.txt", VN_DIM_UNKNOWN, 2, 4, 0, NULL, "a.txt #0: 27 0; a.txt #1: 26 3", 0 },
  { "beside/a.txt", 3, 3, 3, 0, NULL, "a.txt #0: 27 0 1; a.txt #1: 2 26 3", 0 },
  { "beside/a.txt", 3, 4, 0, 0, NULL, NULL, VN_ERROR_SETTING },
  { "beside/a.txt", 8, 0, 0, 0, NULL, NULL, VN_ERROR_MISSING_DATA },
  { "beside/mark.txt", VN_DIM_UNKNOWN, 0, 0, 0, NULL, "mark.txt: 27 0", 0 },
  { "beside/no-text.txt", VN_DIM_UNKNOWN, 0, 0, 0, NULL, NULL, VN_ERROR_MALFORMED },
  { "beside/list.txt", 3, 0, 0, 0, NULL, "../c.npy: 5 5 5", 0 },
  { "many", 3, 0, 0, 0, "beside/tokenizer.json", "1.txt #0: 27 0 1; 10.txt #0: 27 2 2", 0 },
  { "many", VN_DIM_UNKNOWN, 3, 0, 0, "beside", "1.txt #0: 27 0 1; 2.txt: 27 3; 10.txt #0: 27 2 2", 0 },
  { "many", 3, 0, 0, 0, NULL, NULL, VN_ERROR_MISSING_DATA },
  { "many/1.txt", 3, 0, 0, 0, NULL, NULL, VN_ERROR_MISSING_DATA },
  { "beside/a.txt", 3, 0, 0, 0, "large.json", NULL, VN_ERROR_SHAPE },
  { "beside/a.txt", 3, 0, 0, 0, "c.npy", NULL, VN_ERROR_MALFORMED },
  { "beside/a.txt", 3, 0, 0, 0, "novel.json", NULL, VN_ERROR_UNSUPPORTED },
  { "arrays", VN_DIM_UNKNOWN, 3, 2, 0, NULL,
    "a.npy #0: 5 5 5; b.npy #0: 7 8 9; b.npy #1 (1): 9 10 11; b.npy #2 (1): 11 12 13", 0 },
  { "arrays", 3, 0, 3, 0, NULL, "a.npy #0: 5 5 5; b.npy #0: 7 8 9; b.npy #1: 10 11 12", 0 },
  { "floats", VN_DIM_UNKNOWN, 3, 0, 0, NULL, NULL, VN_ERROR_MALFORMED },
  { "numbers.npy", VN_DIM_UNKNOWN, 3, 0, 0, NULL, "numbers.npy #0: 7 8 9; numbers.npy #1: 10 11 12", 0 },
  { "numbers.npy", VN_DIM_UNKNOWN, 3, 2, 0, NULL,
    "numbers.npy #0: 7 8 9; numbers.npy #1 (1): 9 10 11; numbers.npy #2 (1): 11 12 13",
    0 },
};

static void
put_files (Folder *folder)
{
  static const char numbers[] = "\x93NUMPY\1\0\x76\0{'descr': '<i8', 'fortran_order': False, 'shape': (7,), }";
  g_autofree char *tokenizer = make_tokenizer (0), *large = make_tokenizer (30);
  g_autoptr(GByteArray) npy = g_byte_array_new (), one = g_byte_array_new ();

  g_byte_array_append (npy, (const guint8 *) numbers, sizeof numbers - 1);
  while (npy->len < 128)
    g_byte_array_append (npy, (const guint8 *) (npy->len == 127 ? "\n" : " "), 1);
  g_byte_array_append (one, npy->data, npy->len);
  memcpy (strstr ((char *) one->data + 10, "(7,)"), "(3,)", 4);
  for (gint64 i = 7; i < 14; i++)
    g_byte_array_append (npy, (const guint8 *) &i, sizeof i);
  for (guint i = 0; i < 3; i++)
    g_byte_array_append (one, (const guint8 *) &(gint64) { 5 }, sizeof (gint64));
  folder_put (folder, "numbers.npy", npy->data, npy->len);
  folder_put (folder, "c.npy", one->data, one->len);
  folder_put (folder, "arrays/b.npy", npy->data, npy->len);
  folder_put (folder, "arrays/a.npy", one->data, one->len);
  folder_put (folder, "floats/a.npy", one->data, one->len);
  folder_put_npy (folder, "floats/b.npy", VN_SHAPE (4), 1);
  folder_put_text (folder, "large.json", large);
  folder_put_text (folder, "novel.json", "{\"model\": {\"type\": \"BPE\", \"vocab\": {}, \"merges\": []}, \"novel\": 1}");
  folder_put_text (folder, "beside/tokenizer.json", tokenizer);
  folder_put_text (folder, "beside/a.txt", "abc de");
  folder_put_text (folder, "beside/mark.txt", "\xef\xbb\xbf" "a");
  folder_put_text (folder, "beside/no-text.txt", "a\xff");
  folder_put_text (folder, "beside/list.txt", "# paths\n\n../c.npy\n");
  folder_put_text (folder, "many/1.txt", "abc");
  folder_put_text (folder, "many/2.txt", "d");
  folder_put_text (folder, "many/10.txt", "cc");
  folder_put_text (folder, "many/README", "none");
}

static void
test_cases (Folder        *folder,
            gconstpointer  data)
{
  put_files (folder);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_build_filename (folder->path, cases[i].path, NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);
      const VnInputSpec input = TOKENS (cases[i].length);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      g_autofree char *samples = NULL;

      spec->window = cases[i].window;
      spec->stride = cases[i].stride;
      spec->max_samples = cases[i].max;
      spec->tokenizer = cases[i].tokenizer != NULL ? g_build_filename (folder->path, cases[i].tokenizer, NULL) : NULL;
      dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
      g_test_message ("%u, %s: %s", i, cases[i].path, error != NULL ? error->message : "opened");
      if (cases[i].samples == NULL)
        {
          g_assert_error (error, VN_ERROR, cases[i].code);
          continue;
        }
      g_assert_no_error (error);
      samples = describe_samples (dataset);
      g_assert_cmpstr (samples, ==, cases[i].samples);
    }
}

/* Other texts, or another tokenizer, are other samples. */
static void
test_digest (Folder        *folder,
             gconstpointer  data)
{
  g_autofree char *path = g_build_filename (folder->path, "many", NULL);
  g_autofree char *large = make_tokenizer (1);
  const VnInputSpec input = TOKENS (VN_DIM_UNKNOWN);
  const guint which = 0;
  char *digests[3];

  put_files (folder);
  for (guint i = 0; i < G_N_ELEMENTS (digests); i++)
    {
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (path);
      g_autoptr(VnDataset) dataset = NULL;

      spec->tokenizer = g_build_filename (folder->path, "beside", "tokenizer.json", NULL);
      if (i == 1)
        folder_put_text (folder, "many/1.txt", "abd");
      if (i == 2)
        folder_put_text (folder, "beside/tokenizer.json", large);
      dataset = vn_dataset_open (spec, &input, 1, NULL, NULL);
      g_assert_nonnull (dataset);
      digests[i] = vn_dataset_dup_digest (dataset, &which, 1);
    }
  g_assert_cmpstr (digests[0], !=, digests[1]);
  g_assert_cmpstr (digests[1], !=, digests[2]);
  for (guint i = 0; i < G_N_ELEMENTS (digests); i++)
    g_free (digests[i]);
}

/* A whole text as one word, and one that is all blanks: with a time that grows with the square these would take hours. */
static void
test_long (void)
{
  static const char * const models[] = {
    "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"aa\": 3, \"aaaa\": 4}, \"merges\": [\"a"
    " b\", \"a a\", \"aa aa\"]}}",
    "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"u\", 0], [\"a\", -1], [\"aa\", -1.5], [\"b\", -2]]}}",
    "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},"
    " \"behavior\": \"Isolated\"}, \"model\": {\"type\": \"BPE\", \"unk_token\": \"a\", \"fuse_unk\": true, \"vocab\":"
    " {\"a\": 0}, \"merges\": []}}",
  };
  const gsize size = 1 << 21;
  g_autofree char *text = g_malloc (size);

  for (guint m = 0; m < G_N_ELEMENTS (models); m++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTokenizer) tokenizer = vn_tokenizer_parse (models[m], -1, "model", &error);
      g_autoptr(GArray) tokens = g_array_new (FALSE, FALSE, sizeof (guint32));

      g_assert_no_error (error);
      memset (text, m == 2 ? ' ' : 'a', size);
      text[size - 1] = 'b';
      vn_tokenizer_encode (tokenizer, text, size, tokens, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (tokens->len, ==, m == 2 ? 3 : m == 1 ? size / 2 + 1 : (size - 2) / 4 + 2);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  FOLDER_TEST ("/texts/cases", test_cases);
  FOLDER_TEST ("/texts/digest", test_digest);
  g_test_add_func ("/texts/long", test_long);
  return g_test_run ();
}
