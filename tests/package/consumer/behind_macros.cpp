// SPDX-License-Identifier: MIT
// A program that has macros with short names before it includes Tilewright.

#include <complex.h>

// windows.h with NOMINMAX
#define near
#define far
#define small char
#define hyper double
#define interface struct
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define ERROR 0
#define NO_ERROR 0
#define DELETE 0x10000L
#define STRICT 1
#define RGB(r, g, b) 0
#define cdecl
#define pascal
#define ABSOLUTE 1
#define RELATIVE 2
#define BYTE 1
#define DIFFERENCE 11
#define PASSTHROUGH 19
#define TRANSPARENT 1
#define OPAQUE 2
#define IGNORE 0
#define INFINITE 0xFFFFFFFF

// curses.h
#define OK (0)
#define ERR (-1)

// sys/sysmacros.h, and what g++ defines without -std=c++20
#define major(x) 0
#define minor(x) 0
#define makedev(a, b) 0
#define unix 1
#define linux 1

#include <tilewright/kernels/gemm.hpp>
#include <tilewright/kernels/routing.hpp>
#include <tilewright/kernels/rows.hpp>
#include <tilewright/kernels/tensor.hpp>
#include <tilewright/tilewright.hpp>
