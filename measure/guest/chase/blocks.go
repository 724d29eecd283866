package chase

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// LinkBlocks links the lines of b into one cycle that visits all lines of a block of so many bytes, in random order, before the
// next block. Page addresses of a block stay in the TLB. In Link's cycle through a large memory, many accesses also wait for page
// addresses; in a guest even with huge pages, if the hypervisor backs them by small ones. So this latency is comparable to the
// probe of a page, which touches the page first. b consists of whole blocks and is larger than the caches.
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
		// Exchanging the contents of two lines in different cycles joins the cycles.
		next := (*uintptr)(unsafe.Pointer(&b[from]))
		*first, *next = *next, *first
		all.lines += c.lines
	}
	if all == nil {
		return nil, errors.New("no memory to link")
	}
	return all, nil
}
