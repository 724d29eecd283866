// Package pages provides memory outside Go's heap for measurements: on a NUMA node or anywhere, in small or huge pages,
// and the pages of a file in the page cache. The memory includes the system's confirmation of its placement and page
// size.
package pages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/guest/cpu"
)

// Anywhere is an Ask's node if the system chooses.
const Anywhere = -1

// stepBytes is the amount to touch between two checks of the context and the caller's step.
const stepBytes = 16 << 20

// Ask describes the requested memory.
type Ask struct {
	Bytes int // rounded up to whole pages
	Node  int // a node of the system, or Anywhere

	// Processors are those of Node, numbered as in cpu.On. They are needed if the system forbids programs to choose a
	// node, as container profiles do: a thread on the first of them touches the pages, which places them on Node.
	Processors []int

	Huge bool // huge pages (2 MiB on x86), or an error; false means small pages, whatever the system's setting

	// Step, if not nil, is called before each 16 MiB are touched, with the bytes touched so far. An error ends Take,
	// which frees everything and returns it.
	Step func(touched int) error
}

// Memory is memory of this process. All of it has been touched, and each page has unique content, so that no hypervisor
// shares it; the content of a file is unchanged. It does not move until Close, unless the system migrates pages.
type Memory struct {
	Bytes    []byte // aligned to a page, or to a huge page if it is at least as large; nil after Close
	ReadOnly bool   // a file: writing to Bytes ends the program

	// HugeBytes is the part of Bytes in huge pages: at least 90 % of the requested amount, else unknown.
	HugeBytes int

	// Doubt is the reason why the placement on the requested node is uncertain. It is empty if the system confirmed it,
	// and for memory that may be anywhere. Of confirmed memory at most 1 % of the pages are elsewhere.
	Doubt string

	mapping       // the system's handle
	unbound error // error of binding to the node
}

// Take returns memory as requested. The caller closes it.
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

// touch writes its number to each page.
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

// verify checks the nodes of the pages with the system.
func (m *Memory) verify(node int) error {
	nodes, err := m.Nodes()
	if err != nil {
		m.Doubt = "placement not verified: " + err.Error()
		if m.unbound != nil {
			m.Doubt = "placement not verified: " + m.unbound.Error() + "; the pages were touched first on a processor of the node; " + err.Error()
		}
		return nil
	}
	elsewhere := words.Count(nodes, func(n int) bool { return n != node })
	if elsewhere*100 > len(nodes) {
		return fmt.Errorf("memory on node %d: %d of %d pages are elsewhere", node, elsewhere, len(nodes))
	}
	return nil
}

// Pages returns the number of pages, of the system's size.
func (m *Memory) Pages() int { return (len(m.Bytes) + os.Getpagesize() - 1) / os.Getpagesize() }
