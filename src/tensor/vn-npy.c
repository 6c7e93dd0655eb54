/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NumPy's array file: magic "\x93NUMPY", version, length of the header, header (a Python dictionary literal with the
 * keys descr, fortran_order and shape), data. */
#include "vn-tensor.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-message.h"

#include <string.h>

#define MAX_HEADER ((gsize) 1 << 20)   /* numpy itself refuses headers over 10000 bytes */

static const struct
{
  const char *descr;
  VnDType     dtype;
} descrs[] = {
  { "<f4", VN_DTYPE_F32 }, { "<f8", VN_DTYPE_F64 }, { "<f2", VN_DTYPE_F16 }, { "|b1", VN_DTYPE_BOOL },
  { "|u1", VN_DTYPE_U8 },  { "|i1", VN_DTYPE_S8 },  { "<u2", VN_DTYPE_U16 }, { "<i2", VN_DTYPE_S16 },
  { "<u4", VN_DTYPE_U32 }, { "<i4", VN_DTYPE_S32 }, { "<u8", VN_DTYPE_U64 }, { "<i8", VN_DTYPE_S64 },
};

static gboolean
npy_malformed (GError     **error,
               const char  *what)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("Not a usable .npy file: %s"), what);
  return FALSE;
}

static VnDType
npy_dtype_from_descr (const char *descr)
{
  for (guint i = 0; i < G_N_ELEMENTS (descrs); i++)
    if (g_str_equal (descrs[i].descr, descr))
      return descrs[i].dtype;
  return VN_DTYPE_UNDEFINED;
}

/* The text after 'key': in the header, or NULL. */
static const char *
npy_find_key (const char *header,
              const char *key)
{
  g_autofree char *quoted = g_strdup_printf ("'%s'", key);
  const char *at = strstr (header, quoted);

  if (at == NULL)
    return NULL;
  at += strlen (quoted);
  at += strspn (at, " \t");
  if (*at != ':')
    return NULL;
  at++;
  return at + strspn (at, " \t");
}

static gboolean
npy_parse_descr (const char  *header,
                 VnDType     *dtype,
                 gboolean    *swapped,
                 GError     **error)
{
  const char *at = npy_find_key (header, "descr");
  g_autofree char *descr = NULL;
  const char *end;

  if (at == NULL || (*at != '\'' && *at != '"') || (end = strchr (at + 1, *at)) == NULL)
    return npy_malformed (error, _("its header has no type"));
  descr = g_strndup (at + 1, end - at - 1);
  *swapped = descr[0] == '>';
  if (*swapped)
    descr[0] = '<';
  *dtype = npy_dtype_from_descr (descr);
  if (*dtype != VN_DTYPE_UNDEFINED)
    return TRUE;
  descr[0] = *swapped ? '>' : descr[0];
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Elements of type “%s” in an .npy file are not supported"), descr);
  vn_message_make_valid (error);
  return FALSE;
}

static gboolean
npy_parse_shape (const char  *header,
                 VnShape     *shape,
                 GError     **error)
{
  const char *at = npy_find_key (header, "shape");

  if (at == NULL || *at != '(')
    return npy_malformed (error, _("its header has no shape"));
  at++;
  *shape = VN_SHAPE_SCALAR;
  for (;;)
    {
      char *end;
      guint64 dim;

      at += strspn (at, " \t,");
      if (*at == ')')
        return TRUE;
      if (!g_ascii_isdigit (*at))
        return npy_malformed (error, _("its shape is not a list of numbers"));
      dim = g_ascii_strtoull (at, &end, 10);
      if (dim > G_MAXINT64 / 2)
        return npy_malformed (error, _("a dimension is too large"));
      if (shape->rank == VN_MAX_RANK)
        return npy_malformed (error, _("it has too many dimensions"));
      shape->dims[shape->rank++] = (gint64) dim;
      at = end + (*end == 'L');
    }
}

/**
 * vn_npy_get_data_offset:
 * @bytes: the beginning of an .npy file
 *
 * Returns: how many bytes the magic and the header have, at most a little more than a header may have; 0 if there are not
 *   enough to tell
 */
gsize
vn_npy_get_data_offset (GBytes *bytes)
{
  gsize size, length;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size < 12)
    return 0;
  length = data[8] | (gsize) data[9] << 8;
  if (data[6] > 1)
    length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  return MIN (length, MAX_HEADER) + (data[6] > 1 ? 12 : 10);
}

static gboolean
npy_split_header (GBytes  *bytes,
                  char   **header,
                  gsize   *data_offset,
                  GError **error)
{
  gsize size, length, start;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size < 10 || memcmp (data, "\x93NUMPY", 6) != 0)
    return npy_malformed (error, _("the first bytes are not “NUMPY”"));
  if (data[6] < 1 || data[6] > 3)
    return npy_malformed (error, _("unknown version"));
  start = data[6] == 1 ? 10 : 12;
  if (size < start)
    return npy_malformed (error, _("it is truncated"));
  length = data[8] | (gsize) data[9] << 8;
  if (start == 12)
    length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  if (length > MAX_HEADER)
    return npy_malformed (error, _("its header is too long"));
  if (length > size - start)
    return npy_malformed (error, _("it is truncated"));
  *header = g_strndup ((const char *) data + start, length);
  *data_offset = start + length;
  return TRUE;
}

/**
 * vn_npy_parse_header:
 * @bytes: the beginning of an .npy file, with the whole header
 * @size: bytes of the whole file
 * @info: (out): what the header announces
 *
 * Returns: %FALSE with %VN_ERROR_MALFORMED or %VN_ERROR_UNSUPPORTED
 */
gboolean
vn_npy_parse_header (GBytes     *bytes,
                     gsize       size,
                     VnNpyInfo  *info,
                     GError    **error)
{
  g_autofree char *header = NULL;
  const char *order;
  gsize n_elements;

  if (!npy_split_header (bytes, &header, &info->offset, error) ||
      !npy_parse_descr (header, &info->dtype, &info->swapped, error) ||
      !npy_parse_shape (header, &info->shape, error))
    return FALSE;
  order = npy_find_key (header, "fortran_order");
  if (order == NULL)
    return npy_malformed (error, _("its header does not specify the order of the axes"));
  info->reversed = g_str_has_prefix (order, "True") && info->shape.rank > 1;
  return (vn_tensor_size_in_bytes (info->dtype, &info->shape, &n_elements, &info->n_bytes) &&
          info->n_bytes <= size - info->offset) ||
         npy_malformed (error, _("it is truncated"));
}

/* Where element @i, counted with the last axis fastest, stands in a file whose first axis is. */
static gsize
npy_find_reversed (const VnShape *shape,
                   gsize          i)
{
  gsize at = 0, rest = i, stride = 1;
  gint64 index[VN_MAX_RANK];

  for (int axis = shape->rank - 1; axis >= 0; axis--)
    {
      index[axis] = (gint64) (rest % (gsize) shape->dims[axis]);
      rest /= (gsize) shape->dims[axis];
    }
  for (int axis = 0; axis < shape->rank; axis++)
    {
      at += (gsize) index[axis] * stride;
      stride *= (gsize) shape->dims[axis];
    }
  return at;
}

/* The elements as they are kept here. */
static VnTensor *
npy_reorder (const VnNpyInfo  *info,
             const guint8     *from,
             GError          **error)
{
  gsize width = vn_dtype_get_bits (info->dtype) / 8;
  VnTensor *tensor = vn_tensor_new (info->dtype, &info->shape, error);

  for (gsize i = 0; tensor != NULL && i < tensor->n_elements; i++)
    {
      const guint8 *element = from + (info->reversed ? npy_find_reversed (&info->shape, i) : i) * width;

      for (gsize k = 0; k < width; k++)
        ((guint8 *) tensor->data)[i * width + k] = element[info->swapped ? width - 1 - k : k];
    }
  return tensor;
}

/**
 * vn_npy_parse:
 * @bytes: a whole .npy file
 *
 * Returns: (transfer full) (nullable): the array, as a view into @bytes if its elements can stay as they are
 */
VnTensor *
vn_npy_parse (GBytes  *bytes,
              GError **error)
{
  g_autoptr(GBytes) payload = NULL;
  VnNpyInfo info;

  if (!vn_npy_parse_header (bytes, g_bytes_get_size (bytes), &info, error))
    return NULL;
  if (info.swapped || info.reversed)
    return npy_reorder (&info, (const guint8 *) g_bytes_get_data (bytes, NULL) + info.offset, error);
  payload = g_bytes_new_from_bytes (bytes, info.offset, info.n_bytes);
  return vn_tensor_new_view (info.dtype, &info.shape, payload, error);
}

/**
 * vn_npy_read:
 *
 * Returns: (transfer full) (nullable): the array in the file @path; errors name the file
 */
VnTensor *
vn_npy_read (const char  *path,
             GError     **error)
{
  g_autoptr(GBytes) bytes = vn_file_map (path, error);
  VnTensor *tensor;

  if (bytes == NULL)
    return NULL;
  tensor = vn_npy_parse (bytes, error);
  if (tensor == NULL)
    g_prefix_error (error, "%s: ", path);
  return tensor;
}

static char *
npy_make_header (const VnTensor  *tensor,
                 GError         **error)
{
  GString *text = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (descrs) && text == NULL; i++)
    if (descrs[i].dtype == tensor->dtype)
      {
        text = g_string_new (NULL);
        g_string_printf (text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descrs[i].descr);
      }
  if (text == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Tensors of type %s cannot be written as .npy"),
                   vn_dtype_get_name (tensor->dtype));
      return NULL;
    }
  for (int i = 0; i < tensor->shape.rank; i++)
    g_string_append_printf (text, "%" G_GINT64_FORMAT ", ", tensor->shape.dims[i]);
  g_string_append (text, "), }");
  /* The data begin at a multiple of 64. */
  while ((10 + text->len + 1) % 64 != 0)
    g_string_append_c (text, ' ');
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}

static gboolean
npy_write (const char      *path,
           const VnTensor  *tensor,
           GError         **error)
{
  g_autoptr(VnFileWriter) writer = NULL;
  g_autofree char *header = npy_make_header (tensor, error);
  gsize length;
  guint8 magic[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };

  if (header == NULL)
    return FALSE;
  length = strlen (header);
  magic[8] = length & 255;
  magic[9] = length >> 8;
  writer = vn_file_writer_new (path, error);
  return writer != NULL &&
         vn_file_writer_write (writer, magic, sizeof magic, error) &&
         vn_file_writer_write (writer, header, length, error) &&
         vn_file_writer_write (writer, tensor->data, tensor->n_bytes, error) &&
         vn_file_writer_commit (writer, error);
}

/**
 * vn_npy_write:
 * @path: replaced only when the whole array has been written
 *
 * The format has no bfloat16: such tensors are written as float32, which holds their numbers.
 */
gboolean
vn_npy_write (const char      *path,
              const VnTensor  *tensor,
              GError         **error)
{
  g_autoptr(VnTensor) wide = NULL;

  g_return_val_if_fail (path != NULL && tensor != NULL, FALSE);

  if (tensor->dtype != VN_DTYPE_BF16)
    return npy_write (path, tensor, error);
  wide = vn_tensor_convert ((VnTensor *) tensor, VN_DTYPE_F32, error);
  return wide != NULL && npy_write (path, wide, error);
}
