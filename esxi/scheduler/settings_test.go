package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// value returns an option of the settings as hosts write it.
func (o *option) value(s *Settings) int {
	if o.truth != nil {
		if *o.truth(s) {
			return 1
		}
		return 0
	}
	return *o.number(s)
}

// optionTable lists the options with their defaults; equal neighbours are one column.
func optionTable() string {
	releases := []numa.Release{numa.ESX41, numa.ESXi50, numa.ESXi60, numa.ESXi65, numa.ESXi90, actionAffinityOff}
	var b strings.Builder
	b.WriteString("| option | range |")
	for _, r := range releases {
		fmt.Fprintf(&b, " %s |", r)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(releases)) + "\n")
	for i := range options {
		o := &options[i]
		fmt.Fprintf(&b, "| %s | %d–%d |", o.key, o.least, o.most)
		for _, r := range releases {
			s := DefaultSettings(r)
			fmt.Fprintf(&b, " %d |", o.value(&s))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestOptionTable checks that docs/evidence/simulation.md lists the options as they are.
func TestOptionTable(t *testing.T) {
	const file = "../../docs/evidence/simulation.md"
	text := golden.Read(t, file)
	before, rest, _ := strings.Cut(string(text), "<!-- options: generated -->\n")
	_, after, ok := strings.Cut(rest, "<!-- end -->")
	if !ok {
		t.Fatal("docs/evidence/simulation.md has no place for the options")
	}
	golden.Equal(t, []byte(before+"<!-- options: generated -->\n"+optionTable()+"<!-- end -->"+after), file)
}

func TestSettingsOf(t *testing.T) {
	h := numa.Host{
		Release:        numa.ReadAt(numa.ESXi80+3, "test"),
		HyperThreading: numa.ReadAt(true, "test"),
		Nodes:          numa.ReadAt([]numa.Node{{Cores: 8, Threads: 16}}, "test"),
	}
	set := func(pairs ...string) (s numa.Settings) {
		for i := 0; i < len(pairs); i += 2 {
			s = append(s, numa.Setting{Key: pairs[i], Value: pairs[i+1]})
		}
		return s
	}
	for _, tt := range []struct {
		name     string
		options  numa.Settings
		want     func(*Settings)
		problems []string
	}{
		{"defaults", nil, func(*Settings) {}, nil},
		{"numbers and switches, in any case of letters", set("numa.pagemigratemax", "100", "Numa.RebalanceEnable", "0"),
			func(s *Settings) { s.PageMigRateMax, s.RebalanceEnable = 100, false }, nil},
		{"out of range", set("Numa.SwapInterval", "0", "LPage.LPageAlwaysTryForNPT", "yes"), func(*Settings) {}, []string{
			`Numa.SwapInterval: found "0", want a number from 1 to 10000: taken as unset`,
			`LPage.LPageAlwaysTryForNPT: found "yes", want a number from 0 to 1: taken as unset`}},
		{"SCAv1 uses one thread of a core (E-2)", set("VMkernel.Boot.hyperthreadingMitigation", "TRUE"), func(s *Settings) { s.HTGain = 0 }, nil},
		{"SCAv2 uses both for one VM (E-3)", set("VMkernel.Boot.hyperthreadingMitigation", "TRUE", "VMkernel.Boot.hyperthreadingMitigationIntraVM", "FALSE"),
			func(s *Settings) { s.HTGain = 1250 }, nil},
		{"forced", set("forceHyperthreadingMitigation", "TRUE"), func(s *Settings) { s.HTGain = 1250 }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.Options = numa.ReadAt(tt.options, "test")
			want := DefaultSettings(numa.ESXi80 + 3)
			want.HTGain = 2500
			tt.want(&want)
			got, problems := SettingsOf(&h)
			if got != want || !slices.Equal(problems, tt.problems) {
				t.Errorf("SettingsOf = %+v, %q\nwant %+v, %q", got, problems, want, tt.problems)
			}
		})
	}
}
