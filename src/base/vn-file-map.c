/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are read by mapping them, and what becomes of that when somebody else writes into them meanwhile: reading a
 * page that is gone would end the process with SIGBUS; here it gives zeros, and what was made of them is refused. */
#include "vn-file.h"

#include "vn-digest.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS 256

/* Of files up to this size it is known whether they were changed or only touched: reading them whole takes some milliseconds. */
#define DIGEST_MOST ((gsize) 64 << 20)

/* So much of them is in the memory of the process at a time. */
#define DIGEST_PIECE ((gsize) 4 << 20)

/* Where a file is mapped, for the handler of SIGBUS, which may take no lock. All fields are atomic; a slot with @start 0 is free.
 * @lost: 0, or the how manieth loss of this process it was that a page of it was gone */
typedef struct
{
  guintptr start, end;
  guint    lost;
} Slot;

typedef struct _Slots Slots;
struct _Slots
{
  Slot   slots[SLOTS];
  Slots *next;              /* set once; never freed */
};

typedef struct
{
  GMappedFile *file;
  char        *path;        /* absolute */
  Slot        *slot;        /* NULL of an empty file */
  guintptr     start, end;
  struct stat  info;        /* when it was mapped */
  VnDigest     digest;
  gboolean     has_digest;
} Map;

static GMutex maps_lock;
static GPtrArray *maps;     /* of Map */
static Slots all_slots;
static guint n_lost;        /* atomic */
static char *lost_path;     /* (nullable): of the last that was unmapped after pages of it were gone */
static guint lost_number;
static guintptr page_size;
static struct sigaction earlier;

/* ---- the handler: only what is safe in a signal ---- */

static Slot *
file_map_find_slot (guintptr at)
{
  for (Slots *slots = &all_slots; slots != NULL; slots = __atomic_load_n (&slots->next, __ATOMIC_ACQUIRE))
    for (guint i = 0; i < SLOTS; i++)
      {
        Slot *slot = &slots->slots[i];
        guintptr start = __atomic_load_n (&slot->start, __ATOMIC_ACQUIRE);
        guintptr end = __atomic_load_n (&slot->end, __ATOMIC_ACQUIRE);

        /* Who reads a file keeps it mapped: only slots of others can change here. */
        if (start != 0 && at >= start && at < end && __atomic_load_n (&slot->start, __ATOMIC_ACQUIRE) == start)
          return slot;
      }
  return NULL;
}

/* All behind a page that is gone most likely is as well, and each page of its own would take an entry in the kernel's table. */
static gboolean
file_map_cover (Slot     *slot,
                guintptr  at)
{
  guintptr first = at & ~(page_size - 1);
  guintptr end = (__atomic_load_n (&slot->end, __ATOMIC_ACQUIRE) + page_size - 1) & ~(page_size - 1);

  if (mmap ((gpointer) first, end - first, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
    return FALSE;
  __atomic_store_n (&slot->lost, __atomic_add_fetch (&n_lost, 1, __ATOMIC_ACQ_REL), __ATOMIC_RELEASE);
  return TRUE;
}

static void
file_map_pass_on (int        number,
                  siginfo_t *info,
                  gpointer   context)
{
  struct sigaction usual = { .sa_handler = SIG_DFL };

  if ((earlier.sa_flags & SA_SIGINFO) != 0 && earlier.sa_sigaction != NULL)
    earlier.sa_sigaction (number, info, context);
  else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
    earlier.sa_handler (number);
  else if (earlier.sa_handler == SIG_DFL || info->si_code > 0)
    {
      /* What reads there does so again when this returns; a signal that was sent is sent again. */
      sigaction (number, &usual, NULL);
      if (info->si_code <= 0)
        raise (number);
    }
}

static void
file_map_handle (int        number,
                 siginfo_t *info,
                 gpointer   context)
{
  int code = errno;
  guintptr at = (guintptr) info->si_addr;
  Slot *slot = info->si_code > 0 ? file_map_find_slot (at) : NULL;

  if (slot == NULL || !file_map_cover (slot, at))
    file_map_pass_on (number, info, context);
  errno = code;
}

/* ---- the table; all with the lock held ---- */

static void
file_map_install (void)
{
  struct sigaction action = { .sa_sigaction = file_map_handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

  if (maps != NULL)
    return;
  maps = g_ptr_array_new ();
  page_size = (guintptr) sysconf (_SC_PAGESIZE);
  sigemptyset (&action.sa_mask);
  sigaction (SIGBUS, &action, &earlier);
}

static Slot *
file_map_take_slot (guintptr start,
                    guintptr end)
{
  for (Slots *slots = &all_slots;; slots = slots->next)
    {
      for (guint i = 0; i < SLOTS; i++)
        if (slots->slots[i].start == 0)
          {
            __atomic_store_n (&slots->slots[i].lost, 0, __ATOMIC_RELEASE);
            __atomic_store_n (&slots->slots[i].end, end, __ATOMIC_RELEASE);
            __atomic_store_n (&slots->slots[i].start, start, __ATOMIC_RELEASE);
            return &slots->slots[i];
          }
      if (slots->next == NULL)
        __atomic_store_n (&slots->next, g_new0 (Slots, 1), __ATOMIC_RELEASE);
    }
}

static void
file_map_free (gpointer data)
{
  Map *self = data;
  guint lost = self->slot != NULL ? __atomic_load_n (&self->slot->lost, __ATOMIC_ACQUIRE) : 0;

  g_mutex_lock (&maps_lock);
  g_ptr_array_remove_fast (maps, self);
  if (lost > lost_number)
    {
      g_free (lost_path);
      lost_path = g_strdup (self->path);
      lost_number = lost;
    }
  if (self->slot != NULL)
    __atomic_store_n (&self->slot->start, 0, __ATOMIC_RELEASE);
  g_mapped_file_unref (self->file);
  g_mutex_unlock (&maps_lock);
  g_free (self->path);
  g_free (self);
}

static GBytes *
file_map_new (GMappedFile       *file,
              const char        *path,
              const struct stat *info)
{
  Map *self = g_new0 (Map, 1);
  char *start = g_mapped_file_get_contents (file);   /* NULL of an empty file */
  gsize size = g_mapped_file_get_length (file);

  start = start != NULL ? start : (char *) "";
  self->file = file;
  self->path = g_canonicalize_filename (path, NULL);
  self->start = (guintptr) start;
  self->end = (guintptr) start + size;
  self->info = *info;
  g_mutex_lock (&maps_lock);
  file_map_install ();
  if (size > 0)
    self->slot = file_map_take_slot (self->start, self->end);
  g_ptr_array_add (maps, self);
  g_mutex_unlock (&maps_lock);
  return g_bytes_new_with_free_func (start, size, file_map_free, self);
}

/* The one that @start to @end is a part of. */
static Map *
file_map_find (guintptr start,
               guintptr end)
{
  for (guint i = 0; maps != NULL && i < maps->len; i++)
    {
      Map *map = g_ptr_array_index (maps, i);

      if (start >= map->start && end <= map->end && start < end)
        return map;
    }
  return NULL;
}

static Map *
file_map_find_bytes (GBytes *bytes)
{
  gsize size;
  guintptr start = (guintptr) g_bytes_get_data (bytes, &size);
  Map *map;

  g_mutex_lock (&maps_lock);
  map = file_map_find (start, start + size);
  g_mutex_unlock (&maps_lock);
  return map;
}

/* ---- mapping ---- */

/**
 * vn_file_release_pages:
 * @data: (array length=size) (nullable): may be part of what vn_file_map() returned; else nothing happens
 *
 * Says that @data will hardly be read again: its pages no longer count as memory of this process. Reading them is still
 * possible, and takes them from the file.
 */
void
vn_file_release_pages (gconstpointer data,
                       gsize         size)
{
#ifdef MADV_DONTNEED
  guintptr page = (guintptr) sysconf (_SC_PAGESIZE);
  guintptr first = ((guintptr) data + page - 1) & ~(page - 1), last = ((guintptr) data + size) & ~(page - 1);

  /* The lock is held on: nobody may unmap them, and map others there, in between. */
  g_mutex_lock (&maps_lock);
  if (file_map_find (first, last) != NULL)
    madvise ((gpointer) first, last - first, MADV_DONTNEED);
  g_mutex_unlock (&maps_lock);
#endif
}

/* Files from this size on are worth the call. */
#define LARGE_MAP ((gsize) 64 << 20)

/**
 * vn_file_release_maps:
 *
 * As vn_file_release_pages() of all that is mapped of large files, between two pieces of work that read them.
 */
void
vn_file_release_maps (void)
{
#ifdef MADV_DONTNEED
  g_mutex_lock (&maps_lock);
  for (guint i = 0; maps != NULL && i < maps->len; i++)
    {
      const Map *map = g_ptr_array_index (maps, i);

      if (map->end - map->start >= LARGE_MAP)
        madvise ((gpointer) map->start, map->end - map->start, MADV_DONTNEED);
    }
  g_mutex_unlock (&maps_lock);
#endif
}

static GMappedFile *
file_map_open (const char   *path,
               struct stat  *info,
               GError      **error)
{
  g_autoptr(GError) reason = NULL;
  GMappedFile *file = NULL;
  int fd = stat (path, info) == 0 && S_ISREG (info->st_mode) ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  int code = fd < 0 && S_ISDIR (info->st_mode) ? EISDIR : fd < 0 && errno == 0 ? EINVAL : errno;

  if (fd < 0 && code == EINVAL)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, _("“%s” is a pipe or a device, which cannot be read "
                                                              "twice: use a regular file"), path);
      return NULL;
    }
  if (fd < 0)
    {
      vn_file_fail (error, _("Cannot open"), path, code);
      return NULL;
    }
  fstat (fd, info);     /* in place of what was found by its name, which may lead elsewhere by now */
  file = g_mapped_file_new_from_fd (fd, FALSE, &reason);
  close (fd);
  if (file != NULL)
    return file;
  if (vn_error_is_memory (reason))
    vn_memory_set_error ((gsize) info->st_size, error);
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  g_prefix_error (error, "%s: ", path);
  return NULL;
}

/**
 * vn_file_map:
 * @path: a regular file
 *
 * Returns: (transfer full) (nullable): its content, mapped and read-only; never without data, even if the file is empty. Where
 *   the file has been cut off meanwhile, zeros are read, and vn_file_check_lost() and vn_file_check_map() say so
 */
GBytes *
vn_file_map (const char  *path,
             GError     **error)
{
  struct stat info = { 0 };
  GMappedFile *file;

  g_return_val_if_fail (path != NULL, NULL);

  errno = 0;
  file = file_map_open (path, &info, error);
  return file != NULL ? file_map_new (file, path, &info) : NULL;
}

/* ---- what was changed ---- */

static void
file_map_set_lost_error (const char  *path,
                         GError     **error)
{
  g_autofree char *shown = g_filename_display_name (path);

  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO,
               _("“%s” changed while it was being read: it was truncated. Try again when the file is complete"), shown);
}

/**
 * vn_file_mark_lost:
 *
 * Returns: what vn_file_check_lost() needs to know about now
 */
guint
vn_file_mark_lost (void)
{
  return __atomic_load_n (&n_lost, __ATOMIC_ACQUIRE);
}

/**
 * vn_file_check_lost:
 * @mark: of vn_file_mark_lost()
 *
 * Returns: %FALSE with %G_FILE_ERROR_IO if since @mark zeros were read, by any thread, in place of what is gone from a file that
 *   was mapped
 */
gboolean
vn_file_check_lost (guint    mark,
                    GError **error)
{
  g_autofree char *path = NULL;

  if (vn_file_mark_lost () == mark)
    return TRUE;
  g_mutex_lock (&maps_lock);
  for (guint i = 0; path == NULL && i < maps->len; i++)
    {
      const Map *map = g_ptr_array_index (maps, i);

      if (map->slot != NULL && __atomic_load_n (&map->slot->lost, __ATOMIC_ACQUIRE) > mark)
        path = g_strdup (map->path);
    }
  if (path == NULL)
    path = g_strdup (lost_path != NULL ? lost_path : "?");
  g_mutex_unlock (&maps_lock);
  file_map_set_lost_error (path, error);
  return FALSE;
}

static gboolean
file_map_digest (const Map *map,
                 VnDigest  *digest)
{
  gsize size = map->end - map->start;

  *digest = (VnDigest) { { 0 } };
  if (size > DIGEST_MOST)
    return FALSE;
  for (gsize done = 0; done < size; done += DIGEST_PIECE)
    {
      gconstpointer piece = (gconstpointer) (map->start + done);
      gsize n = MIN (size - done, DIGEST_PIECE);

      vn_digest_add (digest, piece, n);
      vn_file_release_pages (piece, n);
    }
  return TRUE;
}

/**
 * vn_file_watch_map:
 * @bytes: what vn_file_map() returned, or something else: then nothing happens
 *
 * To be called for what stays mapped for long, before it is read: vn_file_check_map() then can tell a file of up to 64 MB that
 * was changed from one that was touched.
 */
void
vn_file_watch_map (GBytes *bytes)
{
  Map *map;

  g_return_if_fail (bytes != NULL);

  map = file_map_find_bytes (bytes);
  if (map != NULL && !map->has_digest)
    map->has_digest = file_map_digest (map, &map->digest);
}

static gboolean
file_map_same_time (const struct timespec *a,
                    const struct timespec *b)
{
  return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Whether the bytes are those that were mapped, as far as that can be told. */
static gboolean
file_map_is_same (const Map         *map,
                  const struct stat *now)
{
  VnDigest digest;

  if (now->st_size != map->info.st_size)
    return FALSE;
  if (file_map_same_time (&now->st_mtim, &map->info.st_mtim) &&
      (!map->has_digest || file_map_same_time (&now->st_ctim, &map->info.st_ctim)))
    return TRUE;
  return map->has_digest && file_map_digest (map, &digest) && vn_digest_get (&digest) == vn_digest_get (&map->digest);
}

/**
 * vn_file_check_map:
 * @bytes: what vn_file_map() returned, or something else, which did not change; kept by the caller
 * @in_place: also whether its name still leads to it. A file that was replaced or removed goes on being read as it was; what
 *   belongs to it, such as other files, may have gone with it
 *
 * Returns: %FALSE with %G_FILE_ERROR_IO if somebody wrote into the file since it was mapped
 */
gboolean
vn_file_check_map (GBytes    *bytes,
                   gboolean   in_place,
                   GError   **error)
{
  g_autofree char *shown = NULL;
  struct stat now;
  gboolean there;
  Map *map;

  g_return_val_if_fail (bytes != NULL, FALSE);

  map = file_map_find_bytes (bytes);
  if (map == NULL)
    return TRUE;
  if (map->slot != NULL && __atomic_load_n (&map->slot->lost, __ATOMIC_ACQUIRE) > 0)
    {
      file_map_set_lost_error (map->path, error);
      return FALSE;
    }
  there = stat (map->path, &now) == 0 && now.st_dev == map->info.st_dev && now.st_ino == map->info.st_ino;
  if (there ? file_map_is_same (map, &now) : !in_place)
    return TRUE;
  shown = g_filename_display_name (map->path);
  if (!there)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, _("“%s” changed while it was being read: it was replaced by "
                                                         "another file. Try again when all files are complete"), shown);
  else if (now.st_size != map->info.st_size)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, _("“%s” changed while it was being read: its size went from "
                                                         "%llu to %llu bytes. Try again when the file is complete"), shown,
                 (unsigned long long) map->info.st_size, (unsigned long long) now.st_size);
  else
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, _("“%s” changed while it was being read: its content was "
                                                         "modified. Try again when the file is complete"), shown);
  return FALSE;
}

/**
 * vn_file_parse:
 * @path: a regular file
 * @parse: makes something of its text
 * @free: of what @parse returns
 *
 * Returns: (transfer full) (nullable): what @parse made of the whole file; %G_FILE_ERROR if the file cannot be opened or was
 *   written into meanwhile, whatever @parse said of that, else the error of @parse
 */
gpointer
vn_file_parse (const char      *path,
               VnFileParse      parse,
               GDestroyNotify   free,
               GError         **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) reason = NULL;
  gpointer made;
  gsize size;
  const char *text;

  g_return_val_if_fail (path != NULL && parse != NULL && free != NULL, NULL);

  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  text = g_bytes_get_data (bytes, &size);
  made = parse (text, (gssize) size, path, &reason);
  if (!vn_file_check_map (bytes, FALSE, error))
    {
      g_clear_pointer (&made, free);
      return NULL;
    }
  if (made == NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  return made;
}

/* What stands there now has the same bytes, though it is another file. */
static gboolean
file_map_is_copied (const Map         *map,
                    const struct stat *now)
{
  g_autoptr(GBytes) bytes = now->st_size == map->info.st_size && map->has_digest ? vn_file_map (map->path, NULL) : NULL;
  const Map *copy = bytes != NULL ? file_map_find_bytes (bytes) : NULL;
  VnDigest digest;

  return copy != NULL && file_map_digest (copy, &digest) && vn_digest_get (&digest) == vn_digest_get (&map->digest);
}

/**
 * vn_file_is_current:
 * @bytes: as of vn_file_check_map()
 *
 * Returns: %FALSE if the file of that name was written into or replaced by another since it was mapped; %TRUE if it is not there
 */
gboolean
vn_file_is_current (GBytes *bytes)
{
  struct stat now;
  Map *map;

  g_return_val_if_fail (bytes != NULL, FALSE);

  map = file_map_find_bytes (bytes);
  if (map == NULL)
    return TRUE;
  if (map->slot != NULL && __atomic_load_n (&map->slot->lost, __ATOMIC_ACQUIRE) > 0)
    return FALSE;
  if (stat (map->path, &now) != 0)
    return TRUE;
  return now.st_dev == map->info.st_dev && now.st_ino == map->info.st_ino ? file_map_is_same (map, &now)
                                                                          : file_map_is_copied (map, &now);
}
