package chase

import (
	"context"
	"testing"
	"unsafe"
)

// Every line comes once, all of a block together, and each block in an order of its own.
func TestBlocks(t *testing.T) {
	m := take(t, 1<<20)
	const line, block = 64, 64 << 10
	c, err := LinkBlocks(context.Background(), m.Bytes, line, block, 3)
	if err != nil {
		t.Fatal(err)
	}
	all := len(m.Bytes) / line
	if c.Lines() != all {
		t.Fatalf("%d lines, want %d", c.Lines(), all)
	}
	seen, changes := make([]bool, all), 0
	orders := map[[8]int]int{} // how the visit of a block begins
	var begin [8]int
	before, inBlock := -1, 0
	at := c.at
	for range all {
		offset := int(uintptr(at) - uintptr(unsafe.Pointer(&m.Bytes[0])))
		if offset < 0 || offset >= len(m.Bytes) || offset%line != 0 || seen[offset/line] {
			t.Fatalf("offset %d comes again, or is no line", offset)
		}
		seen[offset/line] = true
		if offset/block != before {
			before, inBlock = offset/block, 0
			changes++
		}
		if inBlock < len(begin) {
			begin[inBlock] = offset % block
		}
		if inBlock++; inBlock == len(begin) {
			orders[begin]++
		}
		at = *(*unsafe.Pointer)(at)
	}
	if at != c.at {
		t.Error("not back after all lines")
	}
	if blocks := len(m.Bytes) / block; changes > blocks+1 { // the walk may begin inside the first
		t.Errorf("the cycle changes its block %d times, there are %d", changes, blocks)
	}
	if len(orders) < len(m.Bytes)/block {
		t.Errorf("%d orders of blocks differ", len(orders))
	}
}

func TestNoBlocks(t *testing.T) {
	m := take(t, 1<<20)
	for _, tt := range []struct{ size, block int }{{1 << 20, 0}, {1 << 20, -1}, {1 << 20, 3 << 10}, {1 << 20, 64}, {0, 4096}} {
		if _, err := LinkBlocks(context.Background(), m.Bytes[:tt.size], 64, tt.block, 1); err == nil {
			t.Errorf("%d bytes in blocks of %d", tt.size, tt.block)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LinkBlocks(ctx, m.Bytes, 64, 64<<10, 1); err == nil {
		t.Error("no end by the context")
	}
}
