/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a processor pass for an older one, for measuring times: a library for LD_PRELOAD that answers the instruction CPUID
 * without what VN_INSTRUCTIONS leaves out: "vnni" AMX, "avx512" also VNNI, "avx2" all of AVX-512, too. x86 under Linux, where the
 * processor can have CPUID trapped.
 *
 * gcc -shared -fPIC -o mask.so mask-instructions.c; LD_PRELOAD=./mask.so VN_INSTRUCTIONS=avx2 fit_costs.py ... */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(n) (1u << (n))

/* Of leaf 7: by register, and of its first subleaf. */
static uint32_t hidden_b, hidden_c, hidden_d, hidden_a1;

static void
answer (ucontext_t *context)
{
  greg_t *registers = context->uc_mcontext.gregs;
  const uint32_t leaf = (uint32_t) registers[REG_RAX], subleaf = (uint32_t) registers[REG_RCX];
  uint32_t a, b, c, d;

  syscall (SYS_arch_prctl, ARCH_SET_CPUID, 1);
  __asm__ volatile ("cpuid" : "=a" (a), "=b" (b), "=c" (c), "=d" (d) : "a" (leaf), "c" (subleaf));
  syscall (SYS_arch_prctl, ARCH_SET_CPUID, 0);
  if (leaf == 7 && subleaf == 0)
    {
      b &= ~hidden_b;
      c &= ~hidden_c;
      d &= ~hidden_d;
    }
  else if (leaf == 7 && subleaf == 1)
    a &= ~hidden_a1;
  registers[REG_RAX] = a;
  registers[REG_RBX] = b;
  registers[REG_RCX] = c;
  registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

static void
on_fault (int        number,
          siginfo_t *info,
          void      *context)
{
  const uint8_t *at = (const uint8_t *) ((ucontext_t *) context)->uc_mcontext.gregs[REG_RIP];

  if (at[0] == 0x0f && at[1] == 0xa2)
    answer (context);
  else
    signal (SIGSEGV, SIG_DFL);
}

__attribute__ ((constructor)) static void
mask_begin (void)
{
  const char *instructions = getenv ("VN_INSTRUCTIONS");
  struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

  if (instructions == NULL || *instructions == '\0')
    return;
  hidden_d = BIT (22) | BIT (24) | BIT (25);                    /* AMX */
  hidden_a1 = BIT (21);
  if (strcmp (instructions, "vnni") != 0)
    {
      hidden_c = BIT (11);                                      /* VNNI */
      hidden_a1 |= BIT (4) | BIT (5);
    }
  if (strcmp (instructions, "avx2") == 0)
    {
      hidden_b = BIT (16) | BIT (17) | BIT (21) | BIT (28) | BIT (30) | BIT (31);
      hidden_c |= BIT (1) | BIT (6) | BIT (12) | BIT (14);
      hidden_d |= BIT (8) | BIT (23);
    }
  sigaction (SIGSEGV, &action, NULL);
  if (syscall (SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0)
    perror ("CPUID cannot be trapped here");
}
