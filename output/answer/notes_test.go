package answer_test

import (
	"slices"
	"testing"

	"example.org/homenode/output/answer"
)

// TestFewNotes merges equal notes about many VMs or hosts, and shows those about single rows last.
func TestFewNotes(t *testing.T) {
	a := &answer.Answer{Notes: []answer.Note{{Text: "ignored for VM vm-3", At: "x.xlsx: sheet vCPU, row 4"}}}
	for _, name := range []string{"a", "b", "c", "d"} {
		a.Note("host "+name+": the release is unknown", "VM "+name+": not judged")
	}
	a.Notes = append(a.Notes, answer.Note{Text: "a part of an export", At: "x.xlsx: sheet vHost"})
	var got []string
	for _, n := range a.FewNotes() {
		got = append(got, n.String())
	}
	want := []string{"4 hosts: the release is unknown (first: a)", "4 VMs: not judged (first: a)", "x.xlsx: sheet vHost: a part of an export", "x.xlsx: sheet vCPU, row 4: ignored for VM vm-3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
