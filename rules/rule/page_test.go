package rule

import (
	"reflect"
	"strings"
	"testing"
)

const testPage = `# N099 narrow: a VM is narrow: very

## Why

It is
narrow.

Really.

## Fix

Widen it.

## Limits

None.

## Thresholds

| name | unit | default | least | most | what |
|---|---|---|---|---|---|
| share | share | 15 % | 0 % | 100 % | of the VM: all of it |
| most | count | 4 | 1 | 16 | nodes |

## Book

A-1, B-2

## Sources

- A manual
- An article, https://example.com/a
`

func TestNew(t *testing.T) {
	got := New(testPage, Rule{VMs: true})
	want := &Rule{
		ID: "N099", Name: "narrow", Title: "a VM is narrow: very", Why: "It is\nnarrow.\n\nReally.", Fix: "Widen it.", Limits: "None.",
		Book: []string{"A-1", "B-2"}, Sources: []string{"A manual", "An article, https://example.com/a"},
		Thresholds: []Threshold{
			{Name: "share", Unit: Share, Default: 0.15, Least: 0, Most: 1, Text: "of the VM: all of it"},
			{Name: "most", Unit: Count, Default: 4, Least: 1, Most: 16, Text: "nodes"},
		},
		VMs: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("New = %+v; want %+v", got, want)
	}
}

func TestNewPanics(t *testing.T) {
	for _, tt := range []struct{ name, old, with, want string }{
		{"no title", ": a VM is narrow: very", "", `the page of a rule begins "# N099 narrow", want "# ID name: title": <nil>`},
		{"a cell missing", "| 16 | nodes |", "| nodes |", `rule N099: "| most | count | 4 | 1 | nodes |" has 5 cells, want 6`},
		{"a threshold of another unit", "| 16 |", "| 50 % |", `rule N099: threshold most: found "50 %", want a whole number`},
		{"a threshold written otherwise", "| 15 % |", "| 0.15 |", `rule N099: threshold share: found "0.15", want a share such as 0.15 or 15 %`},
		{"a misspelt section", "## Why", "## Reason", `rule N099: its page has a section "Reason", which is unknown`},
		{"a section missing", "## Fix\n\nWiden it.\n\n", "", "rule N099: its page lacks Why, Fix, Limits, Book or Sources"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("New panics with %v; want %s", got, tt.want)
				}
			}()
			New(strings.Replace(testPage, tt.old, tt.with, 1), Rule{})
		})
	}
}
