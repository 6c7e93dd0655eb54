/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that somebody may send: whatever bytes come in, reading ends with an error that has a message or with something
 * usable (file-kinds.h).
 *
 *   fuzz-files --list                  the kinds
 *   fuzz-files KIND --seeds FOLDER     writes what to start from, and a dictionary, FOLDER.dict
 *   fuzz-files KIND --files FILE...    tries these
 *   fuzz-files KIND [COUNT [SEED]]     replays seeds, the files in corpus/KIND, and seeded mutations of both
 *
 * With FUZZ_ENGINE defined and linked with -fsanitize=fuzzer this is a target of libFuzzer for the kind that $VN_FUZZ_KIND
 * names: run.sh. */
#include "mutate-file.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static const FileKind *
get_kind (const char *id)
{
  const FileKind *kind = find_file_kind (id);

  if (kind == NULL)
    {
      g_printerr ("no kind of files is called “%s”\n", id != NULL ? id : "");
      exit (2);
    }
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
  return kind;
}

#ifdef FUZZ_ENGINE

int    LLVMFuzzerInitialize    (int            *argc,
                                char         ***argv);
int    LLVMFuzzerTestOneInput  (const guint8   *data,
                                gsize           size);
gsize  LLVMFuzzerMutate        (guint8         *data,
                                gsize           size,
                                gsize           max_size);
gsize  LLVMFuzzerCustomMutator (guint8         *data,
                                gsize           size,
                                gsize           max_size,
                                unsigned        seed);

static const FileKind *kind;

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  kind = get_kind (g_getenv ("VN_FUZZ_KIND"));
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  kind->try_bytes (data, size);
  return 0;
}

/* One in three by what the bytes say, where that can be. */
gsize
LLVMFuzzerCustomMutator (guint8   *data,
                         gsize     size,
                         gsize     max_size,
                         unsigned  seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr(GByteArray) bytes = NULL;

  if (kind->form == FILE_BYTES || g_rand_int_range (rand, 0, 3) > 0)
    return LLVMFuzzerMutate (data, size, max_size);
  bytes = g_byte_array_new ();
  g_byte_array_append (bytes, data, (guint) size);
  if (!mutate_meaning (bytes, rand, kind) || bytes->len > max_size)
    return LLVMFuzzerMutate (data, size, max_size);
  memcpy (data, bytes->data, bytes->len);
  return bytes->len;
}

#else

static void
add_file (GPtrArray  *files,
          const char *path)
{
  char *data;
  gsize size;

  if (g_file_get_contents (path, &data, &size, NULL))
    g_ptr_array_add (files, g_bytes_new_take (data, size));
}

static void
add_corpus (GPtrArray  *files,
            const char *id)
{
  g_autofree char *folder = g_build_filename (CORPUS_DIR, id, NULL);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      add_file (files, path);
    }
}

static gboolean
try_file (const FileKind *kind,
          GPtrArray      *files,
          guint           i)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (g_ptr_array_index (files, i), &size);

  return kind->try_bytes (data, size);
}

static int
list_kinds (void)
{
  for (guint i = 0; i < n_file_kinds; i++)
    g_print ("%s\n", file_kinds[i].id);
  return 0;
}

static int
write_seeds (const FileKind *kind,
             const char     *folder)
{
  g_autoptr(GPtrArray) seeds = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autofree char *dictionary = g_strconcat (folder, ".dict", NULL);
  g_autoptr(GString) words = g_string_new (NULL);
  gboolean done = g_mkdir_with_parents (folder, 0755) == 0;

  kind->add_seeds (seeds);
  add_corpus (seeds, kind->id);
  for (guint i = 0; i < seeds->len; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/seed-%u", folder, i);
      GBytes *bytes = g_ptr_array_index (seeds, i);

      done &= g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL);
    }
  for (guint i = 0; kind->words != NULL && kind->words[i] != NULL; i++)
    {
      g_string_append_c (words, '"');
      for (const char *at = kind->words[i]; *at != '\0'; at++)
        g_string_append_printf (words, "\\x%02x", (guchar) *at);
      g_string_append (words, "\"\n");
    }
  return done && g_file_set_contents (dictionary, words->str, -1, NULL) ? 0 : 1;
}

static int
try_files (const FileKind *kind,
           char          **paths)
{
  for (; *paths != NULL; paths++)
    {
      g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
      gint64 start = g_get_monotonic_time ();

      add_file (files, *paths);
      if (files->len == 0)
        return 1;
      g_print ("%s: ", *paths);
      g_print ("%s, %.2f s\n", try_file (kind, files, 0) ? "read" : "refused", (double) (g_get_monotonic_time () - start) * 1e-6);
    }
  return 0;
}

static int
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
    n_seeds_read += try_file (kind, files, i) && i < n_seeds;
  for (guint i = 0; i < count; i++)
    {
      GBytes *from = g_ptr_array_index (files, i % files->len);
      g_autoptr(GByteArray) bytes = g_byte_array_new ();

      g_byte_array_append (bytes, g_bytes_get_data (from, NULL), (guint) g_bytes_get_size (from));
      mutate_file (bytes, rand, kind);
      n_read += kind->try_bytes (bytes->data, bytes->len);
    }
  g_print ("%s: %u seeds, of which %u could be read, %u other files, %u mutations with seed %u: %u could be read\n", kind->id,
           n_seeds, n_seeds_read, files->len - n_seeds, count, seed, n_read);
  return n_seeds_read > n_seeds / 2 && n_read > count / 200 ? 0 : 1;
}

int
main (int   argc,
      char *argv[])
{
  const FileKind *kind;

  if (argc == 2 && g_str_equal (argv[1], "--list"))
    return list_kinds ();
  kind = get_kind (argc > 1 ? argv[1] : NULL);
  if (argc == 4 && g_str_equal (argv[2], "--seeds"))
    return write_seeds (kind, argv[3]);
  if (argc > 3 && g_str_equal (argv[2], "--files"))
    return try_files (kind, argv + 3);
  return replay (kind, argc > 2 ? (guint) g_ascii_strtoull (argv[2], NULL, 10) : kind->n_mutations,
                 argc > 3 ? (guint32) g_ascii_strtoull (argv[3], NULL, 10) : 1);
}

#endif
