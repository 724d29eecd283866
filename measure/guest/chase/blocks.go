package chase

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// LinkBlocks makes one cycle of the lines of b that goes through all lines of a block of so many bytes, in random order, before it
// goes on to the next. The processor keeps the addresses of the pages of a block, where Link's cycle through a large
// memory waits for many of them, too: in a guest also in huge pages, when the hypervisor backs them by
// small ones. So this is the latency to set beside the probe of a page, which touches the page before. b is whole blocks,
// more than the caches hold.
func LinkBlocks(ctx context.Context, b []byte, line, block int, seed uint64) (*Cycle, error) {
	if block <= 0 || len(b)%block != 0 {
		return nil, fmt.Errorf("%d bytes are no whole blocks of %d", len(b), block)
	}
	var all *Cycle
	first := (*uintptr)(unsafe.Pointer(unsafe.SliceData(b)))
	for from := 0; from < len(b); from += block {
		c, err := Link(ctx, b[from:from+block], line, seed+uint64(from/block), nil)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = c
			continue
		}
		// Where two lines of different cycles exchange what they hold, the cycles become one.
		next := (*uintptr)(unsafe.Pointer(&b[from]))
		*first, *next = *next, *first
		all.lines += c.lines
	}
	if all == nil {
		return nil, errors.New("no memory to link")
	}
	return all, nil
}
