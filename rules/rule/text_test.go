package rule

import (
	"testing"

	"example.org/homenode/numa"
)

func TestHostNames(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "no host"},
		{[]string{"esx01.example.com"}, "esx01"},
		{[]string{"esx01", "esx02"}, "esx01 and esx02"},
		{[]string{"esx13.demo", "esx14.demo", "esx15.demo", "esx16.demo"}, "esx13–16"},
		{[]string{"esx01", "esx02", "esx04"}, "esx01, esx02 and esx04"},
		{[]string{"a1", "b2", "c3", "d4", "e9"}, "a1, b2, c3 and 2 more"},
		{[]string{"10.0.0.1", "10.0.0.2"}, "10.0.0.1 and 10.0.0.2"},
	} {
		var hosts []*numa.Host
		for _, n := range tt.names {
			hosts = append(hosts, &numa.Host{Name: n})
		}
		if got := HostNames(hosts); got != tt.want {
			t.Errorf("HostNames(%v) = %q, want %q", tt.names, got, tt.want)
		}
	}
}
