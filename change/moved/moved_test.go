package moved

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/scenario"
)

// domain writes a domain of two cells, or of none.
func domain(name, uuid string, cells ...string) *fstest.MapFile {
	text := fmt.Sprintf("<domain type='kvm' id='1'><name>%s</name><uuid>%s</uuid><memory unit='GiB'>64</memory><vcpu>24</vcpu><cpu><topology sockets='2' cores='12' threads='1'/>", name, uuid)
	if cells != nil {
		text += "<numa>"
		for i, c := range cells {
			text += fmt.Sprintf("<cell id='%d' cpus='%s' memory='%d' unit='GiB'/>", i, c, 64/len(cells))
		}
		text += "</numa>"
	}
	return &fstest.MapFile{Data: []byte(text + "</cpu></domain>")}
}

// off makes the domain one that does not run.
func off(f *fstest.MapFile) *fstest.MapFile {
	f.Data = bytes.Replace(f.Data, []byte(" id='1'"), nil, 1)
	return f
}

// TestCompare checks how VMs are told, and each verdict.
func TestCompare(t *testing.T) {
	before, err := scenario.Read("before", []byte(`release 8.0U3
host esx01 nodes=2 cores=16 memory=256GB
vm same host=esx01 vcpus=24 coresPerSocket=12 memory=64GB
vm SQL_02 host=esx01 vcpus=24 coresPerSocket=12 memory=64GB
vm lost host=esx01 vcpus=24 coresPerSocket=12 memory=64GB
vm other host=esx01 vcpus=24 coresPerSocket=12 memory=64GB
vm sockets host=esx01 vcpus=24 coresPerSocket=6 memory=64GB
vm spread host=esx01 vcpus=24 coresPerSocket=1 memory=64GB
vm twice host=esx01 vcpus=24 coresPerSocket=12 memory=64GB
vm double host=esx01 vcpus=24 coresPerSocket=12 memory=64GB
vm gone host=esx01 vcpus=2 memory=4GB
vm unsized host=esx01 vcpus=2
`))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(before.VMs, func(v numa.VM) bool { return v.Name == "lost" })
	before.VMs[i].UUID = "AAAA-1"
	after, err := kvm.ReadFS("after", fstest.MapFS{
		"same.xml": domain("same", "", "0-11", "12-23"), "sql-02.xml": domain("sql-02", "", "0-11", "12-23"), "renamed.xml": domain("renamed", "aaaa-1"),
		"spread.xml": domain("spread", "", "0-11", "12-23"),
		// A live migration left a definition; and two VMs of one name that are not told apart.
		"k1/twice.xml": off(domain("twice", "bbbb", "0-11", "12-23")), "k2/twice.xml": domain("twice", "bbbb"),
		"k1/double.xml": domain("double", "cccc"), "k2/double.xml": domain("double", "dddd"),
		"other.xml": domain("other", "", "0-5", "6-23"), "sockets.xml": domain("sockets", "", "0-11", "12-23"), "new.xml": domain("new", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compare(t.Context(), rules.Run(before, rules.Options{}), rules.Run(after, rules.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range r.VMs {
		got = append(got, fmt.Sprintf("%s %s: %s, %v to %v", v.Name, v.After.Name, v.Verdict, v.Before.Shape.Sizes(), v.After.Shape.Sizes()))
	}
	want := []string{"same same: same, [12 12] to [12 12]", "SQL_02 sql-02: same, [12 12] to [12 12]", "lost renamed: nodes lost, [12 12] to [24]",
		"other other: other nodes, [12 12] to [6 18]", "sockets sockets: other sockets or cores, [12 12] to [12 12]",
		"spread spread: other sockets or cores, [12 12] to [12 12]", "twice twice: nodes lost, [12 12] to [24]"}
	for i, v := range r.VMs {
		if v.Name == "spread" && v.Before.Shape.Topology() != "24 sockets of 1 core" || v.Name == "twice" && r.VMs[i].After.Basis != "stated at after/k2/twice.xml:1:1" {
			t.Errorf("%s: %s, then %s", v.Name, v.Before.Shape.Topology(), v.After.Basis)
		}
	}
	wantNotes := []string{"unsized: its memory is unknown", "twice is defined 2 times (after/k1/twice.xml:1:1, after/k2/twice.xml:1:1): the one that runs counts, after/k2/twice.xml:1:1",
		"double is defined 2 times (after/k1/double.xml:1:1, after/k2/double.xml:1:1): none is compared, since it is not known which was moved"}
	if !slices.Equal(got, want) || fmt.Sprint(r.Only) != "[[double gone] [double double new]]" || r.Worse() != 3 || !slices.Equal(r.Notes, wantNotes) {
		t.Errorf("found %q\nwant  %q\nonly %v, worse %d, notes %q", got, want, r.Only, r.Worse(), r.Notes)
	}
}
