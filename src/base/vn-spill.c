/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files without names, which go with the process, and memory over them: each piece has one of its own. */
#include "vn-spill.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

/**
 * vn_spill_dup_folder:
 *
 * Returns: (transfer full): where the files lie, for messages: in the user's folder for caches
 */
char *
vn_spill_dup_folder (void)
{
  return g_build_filename (g_get_user_cache_dir (), "vernier", NULL);
}

/**
 * vn_spill_open:
 *
 * Returns: a file for reading and writing that nothing names any more, or -1 with errno set
 */
int
vn_spill_open (void)
{
  g_autofree char *folder = vn_spill_dup_folder (), *name = NULL;
  int fd = -1;

  if (g_mkdir_with_parents (folder, 0700) != 0)
    return -1;
#ifdef O_TMPFILE
  fd = g_open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
  if (fd >= 0)
    return fd;
  name = g_build_filename (folder, "weights-XXXXXX", NULL);
  fd = g_mkstemp_full (name, O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0)
    g_unlink (name);
  return fd;
}

/**
 * vn_spill_try:
 * @size: bytes, more than 0
 *
 * Takes memory from a file in the user's folder for caches. Room on the disk is reserved at once, as a disk that is full later
 * would end the process.
 *
 * Returns: (transfer full) (nullable): %NULL where there is no such room, or no such file
 */
VnSpill *
vn_spill_try (gsize size)
{
  gpointer data = MAP_FAILED;
  VnSpill *self;
  int fd;

  g_return_val_if_fail (size > 0, NULL);

  if (size > G_MAXSSIZE || (fd = vn_spill_open ()) < 0)
    return NULL;
  if (fallocate (fd, 0, 0, (off_t) size) == 0)
    data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close (fd);
  if (data == MAP_FAILED)
    return NULL;
  self = g_new (VnSpill, 1);
  *self = (VnSpill) { data, size };
  return self;
}

void
vn_spill_free (VnSpill *self)
{
  munmap (self->data, self->size);
  g_free (self);
}
