/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that somebody may send, of every kind but networks: whatever bytes come in, reading ends with an error that has a
 * message or with something usable (file-kinds.h).
 *
 * Built with -fsanitize=fuzzer and FUZZ_ENGINE defined this is a target of libFuzzer for the kind that $VN_FUZZ_KIND names;
 * "fuzz-files KIND --seeds FOLDER" writes what to start from, and a dictionary beside it. Without, it replays seeds, the files
 * in corpus/KIND and a number of seeded mutations of both: fuzz-files KIND [COUNT [SEED]] */
#include "file-kinds.h"
#include "mutate-bytes.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data,
                            gsize         size);

static const FileKind *
find_kind (const char *id)
{
  for (guint i = 0; i < n_file_kinds; i++)
    if (g_strcmp0 (file_kinds[i].id, id) == 0)
      return &file_kinds[i];
  g_printerr ("no kind of files is called “%s”\n", id != NULL ? id : "");
  exit (2);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static const FileKind *kind;

  if (kind == NULL)
    {
      g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
      kind = find_kind (g_getenv ("VN_FUZZ_KIND"));
    }
  kind->try_bytes (data, size);
  return 0;
}

#ifndef FUZZ_ENGINE

static void
write_seeds (const FileKind *kind,
             const char     *folder)
{
  g_autoptr(GPtrArray) seeds = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autofree char *dictionary = g_strconcat (folder, ".dict", NULL);
  g_autoptr(GString) words = g_string_new (NULL);

  kind->add_seeds (seeds);
  g_mkdir_with_parents (folder, 0755);
  for (guint i = 0; i < seeds->len; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u", folder, i);
      GBytes *bytes = g_ptr_array_index (seeds, i);

      g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL);
    }
  for (guint i = 0; kind->words != NULL && kind->words[i] != NULL; i++)
    {
      g_string_append_c (words, '"');
      for (const char *at = kind->words[i]; *at != '\0'; at++)
        g_string_append_printf (words, "\\x%02x", (guchar) *at);
      g_string_append (words, "\"\n");
    }
  g_file_set_contents (dictionary, words->str, -1, NULL);
}

static void
add_corpus (GPtrArray  *files,
            const char *kind)
{
  g_autofree char *folder = g_build_filename (CORPUS_DIR, kind, NULL);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      char *data;
      gsize size;

      if (g_file_get_contents (path, &data, &size, NULL))
        g_ptr_array_add (files, g_bytes_new_take (data, size));
    }
}

static gboolean
replay (const FileKind *kind,
        guint           count,
        guint32         seed)
{
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  guint n_seeds, n_read = 0, n_seeds_read = 0;

  kind->add_seeds (files);
  n_seeds = files->len;
  add_corpus (files, kind->id);
  for (guint i = 0; i < files->len; i++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (g_ptr_array_index (files, i), &size);

      if (kind->try_bytes (data, size))
        n_seeds_read += i < n_seeds;
    }
  for (guint i = 0; i < count; i++)
    {
      GBytes *from = g_ptr_array_index (files, i % files->len);
      g_autoptr(GByteArray) bytes = g_byte_array_new ();

      g_byte_array_append (bytes, g_bytes_get_data (from, NULL), (guint) g_bytes_get_size (from));
      mutate_bytes (bytes, rand, kind->words);
      n_read += kind->try_bytes (bytes->data, bytes->len);
    }
  g_print ("%s: %u seeds, of which %u could be read, %u other files, %u mutations with seed %u: %u could be read\n", kind->id,
           n_seeds, n_seeds_read, files->len - n_seeds, count, seed, n_read);
  return n_seeds_read > n_seeds / 2 && n_read > count / 200;
}

int
main (int   argc,
      char *argv[])
{
  const FileKind *kind = find_kind (argc > 1 ? argv[1] : NULL);

  if (argc > 3 && g_str_equal (argv[2], "--seeds"))
    {
      write_seeds (kind, argv[3]);
      return 0;
    }
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
  return replay (kind, argc > 2 ? (guint) g_ascii_strtoull (argv[2], NULL, 10) : 5000,
                 argc > 3 ? (guint32) g_ascii_strtoull (argv[3], NULL, 10) : 1) ? 0 : 1;
}

#endif
