/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file-kinds.h"

#include "vn-graph-edit.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Every reader of configurations has a line: file-kinds.def. */
enum
{
#define FILE_KIND(id, n, form, words) kind_##id,
#include "file-kinds.def"
#undef FILE_KIND
#define VN_CONFIG(name) has_config_##name = kind_config_##name,
#include "vn-configs.def"
#undef VN_CONFIG
};

const FileKind file_kinds[] = {
#define FILE_KIND(id, n, form, words) { #id, n, form, words, try_##id, seed_##id },
#include "file-kinds.def"
#undef FILE_KIND
};
const guint n_file_kinds = G_N_ELEMENTS (file_kinds);

const FileKind *
find_file_kind (const char *id)
{
  for (guint i = 0; i < n_file_kinds; i++)
    if (g_strcmp0 (file_kinds[i].id, id) == 0)
      return &file_kinds[i];
  return NULL;
}

/* Either something was read, or there is an error with a message. */
gboolean
check (gboolean       done,
       GError *const *error)
{
  if (done != (*error == NULL))
    g_error ("%s", done ? "it worked, and there is an error" : "it failed without an error");
  if (*error != NULL && (*(*error)->message == '\0' || !g_utf8_validate ((*error)->message, -1, NULL)))
    g_error ("the message is empty or not valid UTF-8: %s", (*error)->message);
  return done;
}

void
require (gboolean    is,
         const char *what)
{
  if (!is)
    g_error ("%s", what);
}

/* The bytes as a file: its path, which is that of nothing on a disk. */
const char *
put_file (const guint8 *data,
          gsize         size)
{
  static int fd = -1;
  static char path[64];

  if (fd < 0)
    {
      fd = memfd_create ("sample", MFD_CLOEXEC);
      g_snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
    }
  require (fd >= 0 && ftruncate (fd, 0) == 0 && pwrite (fd, data, size, 0) == (gssize) size, "no memory for a file");
  return path;
}

char *
make_folder (void)
{
  char *folder = g_build_filename (g_getenv ("TMPDIR") == NULL && g_access ("/dev/shm", W_OK) == 0
                                   ? "/dev/shm" : g_get_tmp_dir (), "vn-fuzz-XXXXXX", NULL);

  require (g_mkdtemp (folder) != NULL, "no folder can be made");
  return folder;
}

VnModel *
make_model (void)
{
  const float one = 1;
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE (1, 1, 1, 1), &one);
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *data = vn_graph_add_input (graph, "data", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 1, 8, 8));
  VnValue *w = vn_graph_add_initializer (graph, "w", tensor);
  VnValue *a = vn_graph_add_value (graph, "a", VN_DTYPE_F32, NULL), *b = vn_graph_add_value (graph, "b", VN_DTYPE_F32, NULL);

  vn_graph_add_node (graph, "conv", "", "Conv", (VnValue *[]) { data, w }, 2, &a, 1);
  vn_graph_add_node (graph, "softmax", "", "Softmax", &a, 1, &b, 1);
  vn_graph_set_output (graph, 0, b);
  return model;
}

void
add_seed (GPtrArray     *seeds,
          gconstpointer  data,
          gssize         size)
{
  g_ptr_array_add (seeds, g_bytes_new (data, size < 0 ? strlen (data) : (gsize) size));
}

void
add_texts (GPtrArray          *seeds,
           const char * const *texts)
{
  for (; *texts != NULL; texts++)
    add_seed (seeds, *texts, -1);
}

void
close_up (char *text)
{
  gboolean begins = FALSE;
  char *to = text;

  for (const char *from = text; *from != '\0'; from++)
    {
      begins = *from == '\n' || (begins && *from == ' ');
      if (!begins)
        *to++ = *from;
    }
  *to = '\0';
}

void
put_u32 (GByteArray *out,
         guint32     value)
{
  value = GUINT32_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &value, sizeof value);
}

void
put_u16s (GByteArray    *out,
          const guint16 *values,
          guint          n)
{
  for (guint i = 0; i < n; i++)
    g_byte_array_append (out, (const guint8[]) { values[i] & 255, values[i] >> 8 }, 2);
}
