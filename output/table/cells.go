package table

import (
	"strings"
	"time"

	"example.org/homenode/numa"
)

// Col returns a column; width is in characters.
func Col(name string, width int) Column { return Column{Name: name, Width: width} }

// MB returns a size in MB of 2^20 bytes, as RVTools has them in its columns of MiB.
func MB(b numa.Bytes) Cell { return Number(float64(b) / float64(numa.MiB)) }

// Percent returns a share as a percentage with two decimals, as esxtop's N%L.
func Percent(share float64) Cell { return Number(float64(int(share*10000+0.5)) / 100) }

// Seconds returns a duration.
func Seconds(d time.Duration) Cell { return Number(d.Seconds()) }

// Joined returns texts as one cell.
func Joined(texts []string) Cell { return Text(strings.Join(texts, "; ")) }

// Fact returns the cell of a fact, which can be unknown.
func Fact[T any](f numa.Fact[T], cell func(T) Cell) Cell {
	if !f.Known() {
		return Cell{}
	}
	return cell(f.Value)
}

// Known returns the cell if ok is set, otherwise unknown.
func Known(ok bool, c Cell) Cell {
	if !ok {
		return Cell{}
	}
	return c
}
