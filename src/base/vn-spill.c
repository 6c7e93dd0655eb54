/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory over files without names: each piece has one of its own, which goes with it, or with the process. */
#include "vn-spill.h"


#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns: a file that nothing names any more, or -1 */
static int
spill_open (const char *folder)
{
  g_autofree char *name = NULL;
  int fd = -1;

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
  g_autofree char *folder = g_build_filename (g_get_user_cache_dir (), "vernier", NULL);
  gpointer data = MAP_FAILED;
  VnSpill *self;
  int fd;

  g_return_val_if_fail (size > 0, NULL);

  if (size > G_MAXSSIZE || g_mkdir_with_parents (folder, 0700) != 0 || (fd = spill_open (folder)) < 0)
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
