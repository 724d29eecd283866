package cpu

import (
	"errors"
	"fmt"
	"unsafe"
)

// groupAffinity is GROUP_AFFINITY: up to 64 processors of one group.
type groupAffinity struct {
	mask     uintptr
	group    uint16
	reserved [3]uint16
}

// processorNumber is PROCESSOR_NUMBER.
type processorNumber struct {
	group    uint16
	number   uint8
	reserved uint8
}

const currentThread = ^uintptr(1) // GetCurrentThread: the pseudo handle -2

func pin(cpu int) error {
	if cpu < 0 || cpu >= 64<<16 {
		return errors.New("no such number")
	}
	if err := setThreadGroupAffinity.Find(); err != nil {
		return err
	}
	want := groupAffinity{mask: 1 << (cpu % 64), group: uint16(cpu / 64)}
	if ok, _, err := setThreadGroupAffinity.Call(currentThread, uintptr(unsafe.Pointer(&want)), 0); ok == 0 {
		return fmt.Errorf("SetThreadGroupAffinity: %w", err)
	}
	if now, err := Current(); err == nil && now != cpu {
		return fmt.Errorf("the thread runs on processor %d", now)
	}
	return nil
}

// Current returns the logical processor that runs this thread, numbered as in On.
func Current() (int, error) {
	if err := getCurrentProcessorNumberEx.Find(); err != nil {
		return 0, err
	}
	var now processorNumber
	getCurrentProcessorNumberEx.Call(uintptr(unsafe.Pointer(&now))) // it returns nothing
	return 64*int(now.group) + int(now.number), nil
}
