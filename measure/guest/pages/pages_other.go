//go:build !linux && !windows

package pages

import "errors"

var errSystem = errors.New("memory is measured on Linux and Windows only")

type mapping struct{}

func reserve(Ask) (*Memory, error) { return nil, errSystem }

func (m *Memory) hugeBytes() (int, error) { return 0, errSystem }

// Map maps a file read-only; an empty path means this program's own file.
func Map(string) (*Memory, error) { return nil, errSystem }

// Nodes returns the node of each page, or −1 for a page that is not in memory.
func (m *Memory) Nodes() ([]int, error) { return nil, errSystem }

// Resident returns the numbers of the pages that are in memory, for a file in the page cache.
func (m *Memory) Resident() ([]int, error) { return nil, errSystem }

// Lock prevents the memory from being swapped out.
func (m *Memory) Lock() error { return errSystem }

// Close frees the memory. Bytes is nil afterwards.
func (m *Memory) Close() error { return nil }
