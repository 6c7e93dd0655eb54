/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A libonnxruntime that does what VN_TEST_ORT says instead of anything useful. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  const void * const *(*get_table)   (uint32_t version);
  const char         *(*get_version) (void);
} Base;

const Base *OrtGetApiBase (void);

static const void * const *
get_table (uint32_t version)
{
  return NULL;
}

static const char *
get_version (void)
{
  return strcmp (getenv ("VN_TEST_ORT"), "newer") == 0 ? "2.0.1" : "1.99.0";
}

const Base *
OrtGetApiBase (void)
{
  static const Base base = { get_table, get_version };

  if (strcmp (getenv ("VN_TEST_ORT"), "crash") == 0)
    abort ();
  while (strcmp (getenv ("VN_TEST_ORT"), "hang") == 0)
    pause ();
  return &base;
}
