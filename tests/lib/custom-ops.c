/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library of operators for ONNX Runtime: “acme.trt” has FancyPlugin, which gives x^2 / (1 + |x|) for each x, and FancyCrash,
 * which ends the process, or hangs where VN_TEST_CUSTOM says "hang". Of the interface of libonnxruntime it declares what it uses,
 * by its place in the table: nothing of ONNX Runtime is needed to compile it. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_INTERFACE 4
#define OPERATOR_INTERFACE 13   /* that knows of memory */
#define FLOAT 1

/* Places in the table of functions. */
enum
{
  CREATE_DOMAIN = 26, ADD_OPERATOR = 27, ADD_DOMAIN = 28, GET_DATA = 51, GET_RANK = 61, GET_DIMS = 62, GET_COUNT = 64,
  GET_TYPE = 65, GET_INPUT = 90, GET_OUTPUT = 91, RELEASE_TYPE = 99
};

typedef struct Base
{
  const void * const *(*get_table)   (uint32_t version);
  const char         *(*get_version) (void);
} Base;

/* What libonnxruntime asks of an operator, in the order of its interface up to version 13. */
typedef struct Operator Operator;
struct Operator
{
  uint32_t     version;
  void        *(*create_kernel)    (const Operator *self, const void *table, const void *info);
  const char  *(*get_name)         (const Operator *self);
  const char  *(*get_provider)     (const Operator *self);
  int          (*get_input_type)   (const Operator *self, size_t i);
  size_t       (*get_n_inputs)     (const Operator *self);
  int          (*get_output_type)  (const Operator *self, size_t i);
  size_t       (*get_n_outputs)    (const Operator *self);
  void         (*compute)          (void *kernel, void *context);
  void         (*destroy_kernel)   (void *kernel);
  int          (*get_input_character)  (const Operator *self, size_t i);     /* 0: it must be there */
  int          (*get_output_character) (const Operator *self, size_t i);
  int          (*get_input_memory)     (const Operator *self, size_t i);     /* 0: that of the provider */
  void        *later[20];          /* asked for where the version says that they are there */
  const char  *name;
};

static const void * const *table;

#define CALL(place, ...) (((void *(*) (__VA_ARGS__)) (intptr_t) table[place]))

static void *
create_kernel (const Operator *self,
               const void     *functions,
               const void     *info)
{
  return (void *) self;
}

static const char *
get_name (const Operator *self)
{
  return self->name;
}

static const char *
get_provider (const Operator *self)
{
  return NULL;
}

static int
get_type (const Operator *self,
          size_t          i)
{
  return FLOAT;
}

static size_t
get_one (const Operator *self)
{
  return 1;
}

static int
get_zero (const Operator *self,
          size_t          i)
{
  return 0;
}

static void
misbehave (void)
{
  const char *way = getenv ("VN_TEST_CUSTOM");

  while (way != NULL && strcmp (way, "hang") == 0)
    pause ();
  abort ();
}

static void
compute (void *kernel,
         void *context)
{
  const void *input = NULL;
  void *type = NULL, *output = NULL;
  float *from = NULL, *to = NULL;
  int64_t dims[8];
  size_t rank = 0, n = 0;

  if (strcmp (((const Operator *) kernel)->name, "FancyCrash") == 0)
    misbehave ();
  CALL (GET_INPUT, const void *, size_t, const void **) (context, 0, &input);
  CALL (GET_TYPE, const void *, void **) (input, &type);
  CALL (GET_RANK, const void *, size_t *) (type, &rank);
  CALL (GET_DIMS, const void *, int64_t *, size_t) (type, dims, rank);
  CALL (GET_COUNT, const void *, size_t *) (type, &n);
  CALL (RELEASE_TYPE, void *) (type);
  CALL (GET_OUTPUT, void *, size_t, const int64_t *, size_t, void **) (context, 0, dims, rank, &output);
  CALL (GET_DATA, const void *, void **) (input, (void **) &from);
  CALL (GET_DATA, void *, void **) (output, (void **) &to);
  for (size_t i = 0; i < n; i++)
    to[i] = from[i] * from[i] / (1 + fabsf (from[i]));
}

static void
destroy_kernel (void *kernel)
{
}

#define OPERATOR(word) { OPERATOR_INTERFACE, create_kernel, get_name, get_provider, get_type, get_one, get_type, get_one, \
                         compute, destroy_kernel, get_zero, get_zero, get_zero, { NULL }, word }

static const Operator fancy = OPERATOR ("FancyPlugin"), crash = OPERATOR ("FancyCrash");

void *RegisterCustomOps (void       *options,
                         const Base *base);

/* What libonnxruntime calls. */
void *
RegisterCustomOps (void       *options,
                   const Base *base)
{
  void *domain = NULL, *status;

  table = base->get_table (FIRST_INTERFACE);
  status = CALL (CREATE_DOMAIN, const char *, void **) ("acme.trt", &domain);
  if (status == NULL)
    status = CALL (ADD_OPERATOR, void *, const Operator *) (domain, &fancy);
  if (status == NULL)
    status = CALL (ADD_OPERATOR, void *, const Operator *) (domain, &crash);
  return status != NULL ? status : CALL (ADD_DOMAIN, void *, void *) (options, domain);
}
