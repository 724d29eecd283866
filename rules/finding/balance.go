package finding

import "cmp"

// A Balance weighs the findings about a VM that a change takes away against those that it brings, by the most severe of each.
type Balance struct{ lost, got Severity }

// Count adds a finding with its severity before and after the change; Info stands for none.
func (b *Balance) Count(before, after Severity) {
	if before != after {
		b.lost, b.got = max(b.lost, before), max(b.got, after)
	}
}

// Compare returns a positive number if the change makes the VM worse, a negative one if it makes it better, and 0 if what it brings is as severe
// as what it takes away: Level returns how severe that is, Info for nothing.
func (b *Balance) Compare() int { return cmp.Compare(b.got, b.lost) }

// Level returns the severity of the worst finding that the change brings.
func (b *Balance) Level() Severity { return b.got }
