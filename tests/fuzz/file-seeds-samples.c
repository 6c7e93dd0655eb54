/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that can be read, to start from: samples. */
#include "file-kinds.h"

#include "vn-dataset-private.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <glib/gstdio.h>
#include <string.h>

static VnTensor *
make_tensor (VnDType        dtype,
             const VnShape *shape)
{
  VnTensor *tensor = vn_tensor_new (dtype, shape, NULL);

  for (gsize i = 0; i < tensor->n_bytes; i++)
    ((guint8 *) tensor->data)[i] = (guint8) (i * 7 % 60);
  return tensor;
}

static GBytes *
make_npy (VnDType        dtype,
          const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = make_tensor (dtype, shape);
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-seed-XXXXXX", NULL);
  char *data;
  gsize size;

  g_close (g_mkstemp (path), NULL);
  if (!vn_npy_write (path, tensor, NULL) || !g_file_get_contents (path, &data, &size, NULL))
    g_error ("no seed can be written to %s", path);
  g_unlink (path);
  return g_bytes_new_take (data, size);
}

void
seed_npy (GPtrArray *seeds)
{
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_F32, &VN_SHAPE (1, 3, 5, 7)));
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_S64, &VN_SHAPE (4)));
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_U8, &VN_SHAPE (2, 2, 3)));
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_BOOL, &VN_SHAPE (0)));
}

static void
put_entry (GByteArray *out,
           gboolean    local,
           guint       method,
           guint32     packed,
           guint32     size,
           guint32     at,
           const char *name)
{
  guint16 length = (guint16) strlen (name);

  put_u32 (out, local ? 0x04034b50 : 0x02014b50);
  put_u16s (out, (const guint16[]) { 20, 20, 0 }, local ? 1 : 2);
  put_u16s (out, (const guint16[]) { 0, (guint16) method, 0, 0 }, 4);
  put_u32 (out, 0);
  put_u32 (out, packed);
  put_u32 (out, size);
  put_u16s (out, (const guint16[]) { length, 0 }, 2);
  if (!local)
    {
      put_u16s (out, (const guint16[]) { 0, 0, 0, 0, 0 }, 5);
      put_u32 (out, at);
    }
  g_byte_array_append (out, (const guint8 *) name, length);
}

static GBytes *
deflate (GBytes *plain)
{
  g_autoptr(GZlibCompressor) zlib = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, 6);
  gsize size, n_read, n_written;
  gconstpointer data = g_bytes_get_data (plain, &size);
  guint8 *out = g_malloc (size + 100);

  g_converter_convert (G_CONVERTER (zlib), data, size, out, size + 100, G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL);
  return g_bytes_new_take (out, n_written);
}

/* A sound of 16 bits, and one of floats with something before its values. */
void
seed_wav (GPtrArray *seeds)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(GByteArray) out = g_byte_array_new ();
      const guint16 bits = i == 0 ? 16 : 32;

      g_byte_array_append (out, (const guint8 *) "RIFF\0\0\0\0WAVEfmt \20\0\0\0", 20);
      put_u16s (out, (const guint16[]) { i == 0 ? 1 : 3, 2, 16000, 0, 64000, 0, bits / 4, bits }, 8);
      if (i == 1)
        g_byte_array_append (out, (const guint8 *) "LIST\3\0\0\0abc\0", 12);
      g_byte_array_append (out, (const guint8 *) "data\100\0\0\0", 8);
      for (guint k = 0; k < 16; k++)
        put_u32 (out, 0x3e000000 + 4096 * k);
      add_seed (seeds, out->data, out->len);
    }
}

/* The two arrays of a ZIP archive, one stored and one packed. */
void
seed_tokenizer (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"version\": \"1.0\", \"added_tokens\": [{\"id\": 3, \"content\": \"<s>\", \"single_word\": false, \"lstrip\": true,"
    " \"rstrip\": true, \"normalized\": false, \"special\": true}], \"normalizer\": {\"type\": \"NFC\"}, \"pre_tokenizer\":"
    " {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\":"
    " \"\\\\p{L}+|\\\\s+(?!\\\\S)|\\\\s+\"}, \"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\","
    " \"add_prefix_space\": false, \"use_regex\": false}]}, \"post_processor\": {\"type\": \"TemplateProcessing\","
    " \"single\": [{\"SpecialToken\": {\"id\": \"<s>\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}],"
    " \"pair\": [], \"special_tokens\": {\"<s>\": {\"id\": \"<s>\", \"ids\": [3], \"tokens\": [\"<s>\"]}}}, \"model\":"
    " {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"<s>\": 3}, \"merges\": [[\"a\", \"b\"]]}}",
    "{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", \"prepend\": \"_\"}, {\"type\":"
    " \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"_\"}, {\"type\": \"Lowercase\"}, {\"type\": \"Strip\","
    " \"strip_left\": true, \"strip_right\": true}]}, \"model\": {\"type\": \"BPE\", \"unk_token\": \"u\", \"fuse_unk\":"
    " true, \"byte_fallback\": true, \"vocab\": {\"u\": 0, \"_\": 1, \"a\": 2, \"_a\": 3, \"<0xC3>\": 4, \"<0xA4>\": 5},"
    " \"merges\": [\"_ a\"]}}",
    "{\"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": \"_\", \"prepend_scheme\": \"first\", \"split\": true},"
    " \"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"byte_fallback\": false, \"vocab\": [[\"u\", 0], [\"_\", -1.5],"
    " [\"a\", -2], [\"_a\", -2.5], [\"ab\", -3]]}}",
    "{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\", \"individual_digits\": true},"
    " {\"type\": \"Punctuation\", \"behavior\": \"MergedWithPrevious\"}, {\"type\": \"WhitespaceSplit\"}]},"
    " \"post_processor\": {\"type\": \"RobertaProcessing\", \"sep\": [\"b\", 1], \"cls\": [\"a\", 0]}, \"model\":"
    " {\"continuing_subword_prefix\": \"#\", \"end_of_word_suffix\": \"$\", \"vocab\": {\"a\": 0, \"#b$\": 1, \"ab$\": 2},"
    " \"merges\": [\"a #b$\"]}}",
    NULL
  };

  add_texts (seeds, texts);
}

void
seed_npz (GPtrArray *seeds)
{
  static const char * const names[] = { "x.npy", "ids.npy" };
  g_autoptr(GByteArray) out = g_byte_array_new ();
  g_autoptr(GByteArray) directory = g_byte_array_new ();

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(GBytes) plain = i == 0 ? make_npy (VN_DTYPE_F32, &VN_SHAPE (1, 3, 5, 7)) : make_npy (VN_DTYPE_S64, &VN_SHAPE (4));
      g_autoptr(GBytes) packed = i == 0 ? g_bytes_ref (plain) : deflate (plain);
      guint32 at = out->len, n = (guint32) g_bytes_get_size (packed), size = (guint32) g_bytes_get_size (plain);

      put_entry (out, TRUE, 8 * i, n, size, 0, names[i]);
      g_byte_array_append (out, g_bytes_get_data (packed, NULL), n);
      put_entry (directory, FALSE, 8 * i, n, size, at, names[i]);
    }
  put_u32 (directory, 0x06054b50);
  put_u16s (directory, (const guint16[]) { 0, 0, 2, 2 }, 4);
  put_u32 (directory, directory->len - 12);
  put_u32 (directory, out->len);
  put_u16s (directory, (const guint16[]) { 0 }, 1);
  g_byte_array_append (out, directory->data, directory->len);
  add_seed (seeds, out->data, out->len);
}

static void
put_message (GByteArray     *out,
             char            kind,
             VnDType         dtype,
             const VnShape  *shape,
             gconstpointer   payload,
             guint32         n)
{
  const guint8 head[8] = { 'V', 'N', 'S', '1', (guint8) kind, (guint8) dtype, (guint8) shape->rank, 0 };

  g_byte_array_append (out, head, sizeof head);
  put_u32 (out, n);
  put_u32 (out, 0);
  for (int i = 0; i < shape->rank; i++)
    {
      put_u32 (out, (guint32) shape->dims[i]);
      put_u32 (out, 0);
    }
  g_byte_array_append (out, payload, n);
}

/* Two samples of one input, and one of two whose names are given. */
void
seed_stream (GPtrArray *seeds)
{
  const VnShape none = { 0 }, ids = VN_SHAPE (1, 2), picture = VN_SHAPE (1, 3, 5, 7);
  g_autoptr(VnTensor) tensor = make_tensor (VN_DTYPE_F32, &picture);

  for (guint named = 0; named < 2; named++)
    {
      g_autoptr(GByteArray) out = g_byte_array_new ();

      if (named)
        {
          put_message (out, 'N', 0, &none, "ids\0x", 6);
          put_message (out, 'T', VN_DTYPE_S64, &ids, (const gint64[]) { 1, 2 }, 16);
        }
      put_message (out, 'T', VN_DTYPE_F32, &picture, tensor->data, (guint32) tensor->n_bytes);
      if (!named)
        put_message (out, 'T', VN_DTYPE_F32, &picture, tensor->data, (guint32) tensor->n_bytes);
      add_seed (seeds, out->data, out->len);
    }
}

/* What a model's weights are written as is what a .pb holds: field 5 of the graph, which is field 7 of the model. */
void
seed_proto (GPtrArray *seeds)
{
  static const guint8 raw[] = { 0x08, 0x02, 0x10, 0x01, 0x42, 0x01, 'x', 0x4a, 0x08, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40 };
  static const guint8 ints[] = { 0x08, 0x02, 0x10, 0x07, 0x3a, 0x02, 0x01, 0x7f, 0x42, 0x03, 'i', 'd', 's' };
  static const guint8 floats[] = { 0x08, 0x01, 0x10, 0x01, 0x22, 0x04, 0, 0, 0x80, 0x3f };
  static const guint8 strings[] = { 0x08, 0x02, 0x10, 0x08, 0x32, 0x01, 'a', 0x32, 0x00 };
  /* A sequence of tensors (1) that holds one tensor. */
  static const guint8 sequence[] = { 0x0a, 0x01, 's', 0x10, 0x01, 0x1a, 0x0a, 0x08, 0x01, 0x10, 0x01, 0x22, 0x04, 0, 0, 0x80,
                                     0x3f };

  add_seed (seeds, raw + 0, 4);
  add_seed (seeds, raw, sizeof raw);
  add_seed (seeds, ints, sizeof ints);
  add_seed (seeds, floats, sizeof floats);
  add_seed (seeds, strings, sizeof strings);
  add_seed (seeds, sequence, sizeof sequence);
}

void
seed_raw (GPtrArray *seeds)
{
  g_autoptr(VnTensor) tensor = make_tensor (VN_DTYPE_F32, &VN_SHAPE (1, 3, 5, 7));

  add_seed (seeds, tensor->data, (gssize) tensor->n_bytes);
  add_seed (seeds, tensor->data, 24);
}

void
seed_list (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "a.png\n# no\n\nb.npy 3\r\n/nowhere/c.jpg\n", "\xef\xbb\xbf" "a.npz\nb.npz\n", "x.npy\ty.npy 1\nx2.npy\ty2.npy\n",
    "x.pb, y.pb\n", NULL
  };

  add_texts (seeds, texts);
}

void
seed_labels (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "0\n17\ncat\n", "tench, 0\n1: 17\n2 Cat\n\n3 dog\r\n", "\xef\xbb\xbf" "a.npy 3\nb.npy\t4\nc.npy,5\n", "3 a.npy\n17/b.npy;4\n",
    NULL
  };

  add_texts (seeds, texts);
}

void
seed_picture (GPtrArray *seeds)
{
  static const char * const types[] = { "png", "jpeg", "bmp", "tiff" };
  static const char * const texts[] = { "P3\n2 1\n255\n10 20 30 1 2 3\n", "P2 # grey\n1 2\n15\n3 4\n", "P6\n1 1\n255\nabc",
                                        NULL };

  add_texts (seeds, texts);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (types); i++)
    {
      g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, i % 2, 8, 6, 5);
      char *data;
      gsize size;

      gdk_pixbuf_fill (pixbuf, 0x80ff2040);
      if (gdk_pixbuf_save_to_buffer (pixbuf, &data, &size, types[i / 2], NULL, NULL))
        g_ptr_array_add (seeds, g_bytes_new_take (data, size));
    }
}
