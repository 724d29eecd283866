#include "textflag.h"

// func Start() uint64
TEXT ·Start(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func End() uint64
TEXT ·End(SB), NOSPLIT, $0-8
	RDTSCP
	LFENCE
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func Fence()
TEXT ·Fence(SB), NOSPLIT, $0-0
	MFENCE
	LFENCE
	RET

// func clflush(p unsafe.Pointer)
TEXT ·clflush(SB), NOSPLIT, $0-8
	MOVQ    p+0(FP), AX
	CLFLUSH (AX)
	RET

// func clflushopt(p unsafe.Pointer)
TEXT ·clflushopt(SB), NOSPLIT, $0-8
	MOVQ       p+0(FP), AX
	CLFLUSHOPT (AX)
	RET

// func chain(steps int)
TEXT ·chain(SB), NOSPLIT, $0-8
	MOVQ steps+0(FP), CX
	MOVQ $3, AX
loop:
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	DECQ CX
	JNZ  loop
	RET

// func Swaps(word *uint32, from, to uint32, times, tries int) (left int)
TEXT ·Swaps(SB), NOSPLIT, $0-40
	MOVQ word+0(FP), R8
	MOVL from+8(FP), SI
	MOVL to+12(FP), DI
	MOVQ times+16(FP), CX
	MOVQ tries+24(FP), BX
try:
	MOVL SI, AX
	LOCK
	CMPXCHGL DI, (R8)
	JNE  failed
	DECQ CX
	JNZ  try
	MOVQ CX, left+32(FP)
	RET
failed:
	DECQ BX
	JNZ  try
	MOVQ CX, left+32(FP)
	RET

// func Read(p unsafe.Pointer, lines, line int) (sum uint64)
TEXT ·Read(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX
	MOVQ lines+8(FP), CX
	MOVQ line+16(FP), DX
	LEAQ (DX)(DX*2), BX
	PXOR X0, X0
	PXOR X1, X1
	PXOR X2, X2
	PXOR X3, X3
	SHRQ $2, CX
load:
	PADDQ (AX), X0
	PADDQ (AX)(DX*1), X1
	PADDQ (AX)(DX*2), X2
	PADDQ (AX)(BX*1), X3
	LEAQ  (AX)(DX*4), AX
	DECQ  CX
	JNZ   load
	PADDQ X1, X0
	PADDQ X3, X2
	PADDQ X2, X0
	MOVQ  X0, sum+24(FP)
	RET
