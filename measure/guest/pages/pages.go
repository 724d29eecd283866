// Package pages has memory outside of Go's heap to measure: on a NUMA node or anywhere, in small or huge pages, and the
// pages of a file that the page cache holds. What the system confirms of its place and pages is said with it.
package pages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"homenode/measure/guest/cpu"
)

// Anywhere is an Ask's node when the system chooses.
const Anywhere = -1

// stepBytes is how much is touched between two looks at the context and the caller's step.
const stepBytes = 16 << 20

// Ask says what memory is wanted.
type Ask struct {
	Bytes int // rounded up to whole pages
	Node  int // a node of the system, or Anywhere

	// Processors are those of Node, by the numbers of cpu.On. They are needed where the system forbids programs to
	// choose a node, as container profiles do: a thread on the first of them touches the pages, which places them there.
	Processors []int

	Huge bool // huge pages (2 MiB on x86), or an error; false is small pages, whatever the system's setting

	// Step, if any, is called before each 16 MiB are touched, with the bytes that are. An error ends Take, which
	// frees everything and returns it.
	Step func(touched int) error
}

// Memory is memory of this process. All of it has been touched, and each page has content of its own, so that no
// hypervisor shares it; a file's is as it was. It does not move until Close, unless the system migrates pages.
type Memory struct {
	Bytes    []byte // at the start of a page, of a huge one if it is at least as large; nil after Close
	ReadOnly bool   // a file: writing to Bytes ends the program

	// HugeBytes is how many of Bytes are in huge pages: at least 90 % of those that were asked for as huge, else unknown.
	HugeBytes int

	// Doubt says why it is not known that the pages are on the node asked for; empty when the system confirmed it, and
	// of memory that may be anywhere. Of confirmed memory at most 1 % of the pages are elsewhere.
	Doubt string

	mapping       // what the system knows it by
	unbound error // why the system did not take the node
}

// Take returns memory as asked. The caller closes it.
func Take(ctx context.Context, a Ask) (*Memory, error) {
	if a.Bytes <= 0 {
		return nil, fmt.Errorf("%d bytes asked for", a.Bytes)
	}
	m, err := reserve(a)
	if err != nil {
		return nil, err
	}
	if err := m.fill(ctx, a); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Memory) fill(ctx context.Context, a Ask) error {
	touch := func() error { return m.touch(ctx, a.Step) }
	switch {
	case m.unbound == nil:
		if err := touch(); err != nil {
			return err
		}
	case len(a.Processors) == 0:
		return fmt.Errorf("memory on node %d: %w, and no processor of it is known that could touch the memory first", a.Node, m.unbound)
	default:
		if err := cpu.On(a.Processors[0], touch); err != nil {
			return fmt.Errorf("memory on node %d: %w: %w", a.Node, m.unbound, err)
		}
	}
	if a.Huge {
		huge, err := m.hugeBytes()
		if err != nil {
			return fmt.Errorf("huge pages: %w", err)
		}
		if m.HugeBytes = huge; huge < len(m.Bytes)/10*9 {
			return fmt.Errorf("huge pages: the system gave them for %d of %d MiB", huge>>20, len(m.Bytes)>>20)
		}
	}
	if a.Node == Anywhere {
		return nil
	}
	return m.verify(a.Node)
}

// touch writes to each page, the number of the page.
func (m *Memory) touch(ctx context.Context, step func(int) error) error {
	size := os.Getpagesize()
	for at := 0; at < len(m.Bytes); at += stepBytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step != nil {
			if err := step(at); err != nil {
				return err
			}
		}
		for page := at; page < min(at+stepBytes, len(m.Bytes)); page += size {
			*(*uint32)(unsafe.Pointer(&m.Bytes[page])) = uint32(page/size) + 1
		}
	}
	return nil
}

// verify asks the system where the pages are.
func (m *Memory) verify(node int) error {
	nodes, err := m.Nodes()
	if err != nil {
		m.Doubt = "placement not verified: " + err.Error()
		if m.unbound != nil {
			m.Doubt = "placement not verified: " + m.unbound.Error() + "; the pages were touched first on a processor of the node; " + err.Error()
		}
		return nil
	}
	elsewhere := 0
	for _, n := range nodes {
		if n != node {
			elsewhere++
		}
	}
	if elsewhere*100 > len(nodes) {
		return fmt.Errorf("memory on node %d: %d of %d pages are elsewhere", node, elsewhere, len(nodes))
	}
	return nil
}

// Pages returns the number of pages, of the system's size.
func (m *Memory) Pages() int { return (len(m.Bytes) + os.Getpagesize() - 1) / os.Getpagesize() }
