/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loaded in front of a program (LD_PRELOAD): counts the calls that change what is on the disk, and ends the program by SIGKILL
 * in front of that of number VN_KILL_STEP. With VN_KILL_PLAIN files are replaced by writing into them, in two halves with a
 * pause: what the program must not do, so that a test can show that it would find that. */
#include <fcntl.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int n_steps;

static void
step (void)
{
  const char *text = getenv ("VN_KILL_STEP");

  if (text != NULL && __atomic_add_fetch (&n_steps, 1, __ATOMIC_RELAXED) == atoi (text))
    kill (getpid (), SIGKILL);
}

static int
copy_plain (const char *from,
            const char *to)
{
  int in = open (from, O_RDONLY), out = open (to, O_WRONLY | O_CREAT | O_TRUNC, 0666), result = -1;
  struct stat info;

  if (in >= 0 && out >= 0 && fstat (in, &info) == 0)
    {
      char *data = malloc ((size_t) info.st_size + 1);
      ssize_t n = read (in, data, (size_t) info.st_size);

      result = n == info.st_size && write (out, data, (size_t) (n / 2)) == n / 2 ? 0 : -1;
      step ();
      usleep (20000);
      if (result == 0 && write (out, data + n / 2, (size_t) (n - n / 2)) != n - n / 2)
        result = -1;
      free (data);
    }
  close (in);
  close (out);
  return result;
}

int
rename (const char *from,
        const char *to)
{
  static int (*next) (const char *, const char *);

  step ();
  if (getenv ("VN_KILL_PLAIN") != NULL)
    return copy_plain (from, to) == 0 ? unlink (from) : -1;
  if (next == NULL)
    next = (int (*) (const char *, const char *)) dlsym (RTLD_NEXT, "rename");
  return next (from, to);
}

int
link (const char *from,
      const char *to)
{
  static int (*next) (const char *, const char *);

  step ();
  if (next == NULL)
    next = (int (*) (const char *, const char *)) dlsym (RTLD_NEXT, "link");
  return next (from, to);
}

int
linkat (int         from_folder,
        const char *from,
        int         to_folder,
        const char *to,
        int         flags)
{
  static int (*next) (int, const char *, int, const char *, int);

  step ();
  if (next == NULL)
    next = (int (*) (int, const char *, int, const char *, int)) dlsym (RTLD_NEXT, "linkat");
  return next (from_folder, from, to_folder, to, flags);
}

int
unlink (const char *path)
{
  static int (*next) (const char *);

  step ();
  if (next == NULL)
    next = (int (*) (const char *)) dlsym (RTLD_NEXT, "unlink");
  return next (path);
}

int
fsync (int fd)
{
  static int (*next) (int);

  step ();
  if (next == NULL)
    next = (int (*) (int)) dlsym (RTLD_NEXT, "fsync");
  return next (fd);
}
