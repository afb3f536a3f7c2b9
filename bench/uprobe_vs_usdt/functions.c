#include "functions.h"

/* In assembly, for compilers do not let one choose a function's first instruction. */
#define STUDY_FUNCTION(name, first)                                                                          \
  __asm__(".pushsection .text\n.balign 16\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" first \
          "call study_kernel\npop %rbp\nret\n"                                                               \
          ".size " #name ", . - " #name "\n.popsection\n")

STUDY_FUNCTION(study_plain, "push %rbp\n");
STUDY_FUNCTION(study_nop1, "nop\npush %rbp\n");
STUDY_FUNCTION(study_nop5, ".byte 0x0f,0x1f,0x44,0x00,0x00\npush %rbp\n");
STUDY_FUNCTION(study_push, "endbr64\npush %rbp\n");
STUDY_FUNCTION(study_xor, "xor %eax,%eax\npush %rbp\n");

/* Many sites, 16 bytes apart: what attaching and detaching costs, and the memory for it. */
__asm__(
    ".pushsection .text\n.balign 16\n.globl study_sites\n.type study_sites, %function\nstudy_sites:\n"
    ".rept 1000\nnop\nret\n.balign 16\n.endr\n"
    ".size study_sites, . - study_sites\n.popsection\n");
