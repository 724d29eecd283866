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

- share: of the VM: all of it

## Book

A-1, B-2

## Sources

- A manual
- An article, https://example.com/a
`

func TestNew(t *testing.T) {
	got := New(testPage, Rule{VMs: true, Limits: "\n- one more", Thresholds: []Threshold{{Name: "share", Default: 1}}})
	want := &Rule{
		ID: "N099", Name: "narrow", Title: "a VM is narrow: very", Why: "It is\nnarrow.\n\nReally.", Fix: "Widen it.", Limits: "None.\n- one more",
		Book: []string{"A-1", "B-2"}, Sources: []string{"A manual", "An article, https://example.com/a"},
		Thresholds: []Threshold{{Name: "share", Default: 1, Text: "of the VM: all of it"}}, VMs: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("New = %+v; want %+v", got, want)
	}
}

func TestNewPanics(t *testing.T) {
	share := []Threshold{{Name: "share"}}
	for _, tt := range []struct {
		name, old, with string
		thresholds      []Threshold
		want            string
	}{
		{"no title", ": a VM is narrow: very", "", share, `the page of a rule begins "# N099 narrow", want "# ID name: title": <nil>`},
		{"a text too many", "", "", nil, "rule N099 has 0 thresholds and texts for 1"},
		{"a text for another", "- share", "- other", share, `rule N099: the text "other: of the VM: all of it" is not of the threshold share`},
		{"a misspelt section", "## Why", "## Reason", share, `rule N099: its page has a section "Reason", which is unknown`},
		{"a section missing", "## Fix\n\nWiden it.\n\n", "", share, "rule N099: its page lacks Why, Fix, Limits, Book or Sources"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("New panics with %v; want %s", got, tt.want)
				}
			}()
			New(strings.Replace(testPage, tt.old, tt.with, 1), Rule{Thresholds: tt.thresholds})
		})
	}
}
