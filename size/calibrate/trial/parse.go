package trial

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/calibrate"
	"example.org/homenode/source/benchmark/hostload"
)

// ParseLoad parses the CPU use of one host in a test: TEST=78GHz, TEST=68%, or 78GHz.
func ParseLoad(text string) (row hostload.Row, err error) {
	row = hostload.Row{File: "--cpu " + text}
	amount := text
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		row.Test, amount = text[:i], text[i+1:]
	}
	if percent, ok := strings.CutSuffix(strings.TrimSpace(amount), "%"); ok {
		v, half, ok := hostload.Printed(strings.TrimSpace(percent))
		if !ok || v == 0 || v > 100 {
			return row, fmt.Errorf("found %q, want TEST=78GHz or TEST=68%%, at most 100 %%", text)
		}
		row.CPU = hostload.Amount{Value: v / 100, Half: half / 100, Percent: true}
	} else {
		r, err := ParseHz(amount)
		if err != nil {
			return row, fmt.Errorf("found %q, want TEST=78GHz or TEST=68%%", text)
		}
		row.CPU = hostload.Amount{Value: float64(r.Value), Half: float64(r.Half)}
	}
	return row, nil
}

// ParseGuest parses the vCPUs of a guest and their frequency: 2x2GHz is two of 2 GHz.
func ParseGuest(text string) (all, vcpu unit.Hz, err error) {
	count, each, ok := strings.Cut(text, "x")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	vcpu, err2 := unit.ParseHz(each)
	if !ok || err != nil || err2 != nil || n < 1 || n > 960 {
		return 0, 0, fmt.Errorf("found %q, want vCPUs x their frequency such as 2x2GHz", text)
	}
	return unit.Hz(n) * vcpu, vcpu, nil
}

// ParseNetwork parses the cycles per bit for sending and receiving: 0.163,0.373.
func ParseNetwork(text string) (costs [2]unit.CyclesPerBit, err error) {
	tx, rx, _ := strings.Cut(text, ",")
	for i, one := range []string{tx, rx} {
		v, _, ok := hostload.Printed(strings.TrimSpace(one))
		if !ok || v == 0 {
			return costs, fmt.Errorf("found %q, want cycles per bit sent and received such as 0.163,0.373", text)
		}
		costs[i] = unit.CyclesPerBit(v)
	}
	return costs, nil
}

// ParseHz parses a frequency with the uncertainty of its digits.
func ParseHz(s string) (calibrate.Reading[unit.Hz], error) {
	v, err := unit.ParseHz(s)
	if err != nil {
		return calibrate.Reading[unit.Hz]{}, err
	}
	digits := strings.TrimRight(strings.TrimSpace(s), "GgMmHhZz \t")
	_, half, ok := hostload.Printed(digits)
	if !ok {
		half = 0
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		return calibrate.Reading[unit.Hz]{}, err
	}
	return calibrate.Reading[unit.Hz]{Value: v, Half: unit.Hz(half) * v / unit.Hz(n)}, nil
}
