#include "textflag.h"

// func Start() uint64
TEXT ·Start(SB), NOSPLIT, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func End() uint64
TEXT ·End(SB), NOSPLIT, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	ISB  $15
	MOVD R0, ret+0(FP)
	RET

// func Flush(p unsafe.Pointer)
TEXT ·Flush(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	WORD $0xd50b7e20 // DC CIVAC, X0
	RET

// func Fence()
TEXT ·Fence(SB), NOSPLIT, $0-0
	DSB $15
	ISB $15
	RET

// func cntfrq() uint64
TEXT ·cntfrq(SB), NOSPLIT, $0-8
	MRS  CNTFRQ_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func cacheType() uint64
TEXT ·cacheType(SB), NOSPLIT, $0-8
	MRS  CTR_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func chain(steps int)
TEXT ·chain(SB), NOSPLIT, $0-8
	MOVD steps+0(FP), R1
	MOVD $3, R0
	MOVD $5, R2
loop:
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	SUB  $1, R1, R1
	CBNZ R1, loop
	RET
