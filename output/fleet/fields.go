package fleet

import (
	"strconv"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
)

// Kinds of tables, for columns that only apply to one hypervisor.
const (
	predicted = "predicted" // ESXi
	stated    = "stated"    // KVM
)

// kind returns the kind of the fleet's tables.
func (x *index) kind() string {
	if x.Fleet.Hypervisor == numa.KVM {
		return stated
	}
	return predicted
}

// findingFields returns fields with the numbers and the descriptions of a row's findings.
func findingFields[T any](found func(T) []*finding.Finding, assumed func(T) []string) []answer.Field[T] {
	return append(countFields(found), answer.Group(answer.SaidColumns, func(row T) []table.Cell { return answer.Said(found(row), assumed(row)...) })...)
}

// countFields returns fields with the numbers of a row's findings.
func countFields[T any](found func(T) []*finding.Finding) []answer.Field[T] {
	return answer.Group(answer.CountColumns, func(row T) []table.Cell { return answer.Counts(found(row)) })
}

// factCell returns the cell of a fact from a Property: sizes in MB, unknown for a list.
func factCell(fact any) table.Cell {
	switch f := fact.(type) {
	case *numa.Fact[int]:
		return table.Fact(*f, table.Number[int])
	case *numa.Fact[bool]:
		return table.Fact(*f, table.YesNo)
	case *numa.Fact[string]:
		return table.Fact(*f, table.Text)
	case *numa.Fact[numa.Bytes]:
		return table.Fact(*f, table.MB)
	case *numa.Fact[numa.Release]:
		return table.Fact(*f, func(r numa.Release) table.Cell { return table.Text(r.String()) })
	case *numa.Fact[numa.PowerState]:
		return table.Fact(*f, powerCell)
	case *numa.Fact[[]numa.Node]:
		return table.Fact(*f, func(n []numa.Node) table.Cell { return table.Number(len(n)) })
	}
	return table.Cell{}
}

// powerCell returns the power state in RVTools' notation.
func powerCell(p numa.PowerState) table.Cell {
	switch p {
	case numa.PoweredOn:
		return table.Text("poweredOn")
	case numa.PoweredOff:
		return table.Text("poweredOff")
	}
	return table.Text(string(p))
}

// shownAs adds a field to the screen, with this heading.
func shownAs[T any](head string, f answer.Field[T]) answer.Field[T] {
	f.Head = head
	return f
}

// numbered adds a field of numbers to the screen.
func numbered[T any](head string, f answer.Field[T]) answer.Field[T] {
	f.Head, f.Right = head, true
	return f
}

// memoryCell returns a memory size for the screen.
func memoryCell(f numa.Fact[numa.Bytes]) answer.Cell {
	text := "unknown"
	if f.Known() {
		text = f.Value.String()
	}
	return answer.Cell{Text: text, Sort: strconv.FormatInt(int64(f.Value/numa.MiB), 10)}
}

func count(n int) answer.Cell { return answer.Cell{Text: words.Thousands(n), Sort: strconv.Itoa(n)} }

func toneIf(is bool) answer.Tone {
	if is {
		return answer.Bad
	}
	return answer.Plain
}
