/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever bytes come in, reading ends with a model or an error; and a model that was read can be written, and what
 * is written can be read. With FUZZ_PREPARE defined a model that was read is prepared as well. Built with -fsanitize=fuzzer (and FUZZ_ENGINE defined) this file is a target of libFuzzer;
 * without, its main replays a corpus and a number of seeded mutations of it: fuzz-onnx [COUNT [SEED]] */
#include "mutate-bytes.h"
#include "pass-models.h"

#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-validate.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (64 * 1024)

static guint n_read;

int LLVMFuzzerTestOneInput (const guint8 *data,
                            gsize         size);

#ifdef FUZZ_PREPARE
/* As before quantizing, or with every pass there is. */
static void
prepare (const VnModel *model,
         gboolean       everything)
{
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);
  g_autofree const char **ids = g_new0 (const char *, n + 1);
  VnPrepareOptions options = { .target_opset = everything ? 21 : 17, .optimize = everything,
                               .passes = everything ? (const char * const *) ids : NULL };
  g_autoptr(VnModel) prepared = NULL;

  for (guint i = 0; i < n; i++)
    ids[i] = passes[i]->id;
  prepared = vn_prepare_model_with (model, &options, NULL, NULL, NULL, NULL);
  if (prepared != NULL && !vn_model_validate (prepared, VN_VALIDATE_STRUCTURE, NULL, NULL))
    abort ();
}
#endif

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  g_autoptr(GBytes) written = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_bytes (bytes, NULL, &error);
  g_autoptr(VnModel) copy = NULL;
  g_autoptr(VnModel) again = NULL;

  if ((model == NULL) != (error != NULL))
    abort ();
  if (model == NULL)
    return 0;
  n_read++;
  copy = vn_model_copy (model);
  written = vn_onnx_write_bytes (copy, &error);
  if (written == NULL)
    abort ();
  again = vn_onnx_read_bytes (written, NULL, &error);
  if (again == NULL)
    abort ();
  vn_model_validate (again, VN_VALIDATE_CONTENTS, again->notes, NULL);
#ifdef FUZZ_PREPARE
  {
    prepare (again, FALSE);
    prepare (again, TRUE);
  }
#endif
  return 0;
}

#ifndef FUZZ_ENGINE

static void
add_folder (GPtrArray  *corpus,
            const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      char *data;
      gsize size;

      if (g_str_has_suffix (name, ".onnx") && g_file_get_contents (path, &data, &size, NULL))
        g_ptr_array_add (corpus, g_bytes_new_take (data, size));
    }
}

static void
add_built (GPtrArray *corpus)
{
  for (guint i = 0; i < n_test_models + n_test_models_more; i++)
    {
      const TestModel *test = i < n_test_models ? &test_models[i] : &test_models_more[i - n_test_models];
      g_autoptr(VnModel) model = test->build ();

      g_ptr_array_add (corpus, vn_onnx_write_bytes (model, NULL));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GPtrArray) corpus = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  guint count = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 50000;
  guint32 seed = argc > 2 ? (guint32) g_ascii_strtoull (argv[2], NULL, 10) : 1;
  GRand *rand = g_rand_new_with_seed (seed);
  const char *shared = g_getenv ("VN_SHARED");
  guint n_small;

  add_folder (corpus, CORPUS_DIR);
  add_built (corpus);
  n_small = corpus->len;
  if (shared != NULL && *shared != '\0')
    {
      g_autofree char *models = g_build_filename (shared, "models", NULL);

      add_folder (corpus, models);
    }
  for (guint i = 0; i < corpus->len; i++)
    {
      gsize size;
      gconstpointer data = g_bytes_get_data (g_ptr_array_index (corpus, i), &size);

      LLVMFuzzerTestOneInput (data, size);
    }
  for (guint i = 0; i < count; i++)
    {
      GBytes *from = g_ptr_array_index (corpus, i % corpus->len);
      gsize size = g_bytes_get_size (from);
      g_autoptr(GByteArray) bytes = g_byte_array_new ();

      /* The large ones are slow to copy: now and then is enough. */
      if (i % corpus->len >= n_small && size > MAX_SIZE && g_rand_int_range (rand, 0, 100) != 0)
        continue;
      g_byte_array_append (bytes, g_bytes_get_data (from, NULL), (guint) size);
      mutate_bytes (bytes, rand, NULL);
      LLVMFuzzerTestOneInput (bytes->data, bytes->len);
    }
  g_print ("%u files and %u mutations with seed %u: %u could be read\n", corpus->len, count, seed, n_read);
  g_rand_free (rand);
  return n_small > 0 && n_read > count / 100 ? 0 : 1;
}

#endif
