package open

import (
	"slices"
	"testing"
)

func TestShortNames(t *testing.T) {
	host := func(names ...string) Source { return Source{Names: names} }
	file := func(path string) Source { return Source{Names: fileNames(path)} }
	for _, tt := range []struct {
		sources []Source
		want    []string
	}{
		{[]Source{host("vc01", "vc01.example.com", "vc01.example.com:443"), host("vc02", "vc02.example.com", "vc02.example.com:443")}, []string{"vc01", "vc02"}},
		{[]Source{host("vc01", "vc01.a.example", "vc01.a.example:443"), host("vc01", "vc01.b.example", "vc01.b.example:443"), file("x.json")},
			[]string{"vc01.a.example", "vc01.b.example", "x"}},
		{[]Source{host("::1", "::1", "[::1]:443"), host("::1", "::1", "[::1]:8443")}, []string{"[::1]:443", "[::1]:8443"}},
		{[]Source{host("vc01", "vc01", "vc01:443", "a@vc01:443"), host("vc01", "vc01", "vc01:443", "b@vc01:443")}, []string{"a@vc01:443", "b@vc01:443"}},
		{[]Source{file("a/vc01.xlsx"), file("b/vc01.xlsx"), host("vc01", "vc01", "vc01:443")}, []string{"a/vc01.xlsx", "b/vc01.xlsx", "vc01"}},
		{[]Source{file("export.xlsx"), file("export.json")}, []string{"export.xlsx", "export.json"}},
	} {
		if got := shortNames(tt.sources); !slices.Equal(got, tt.want) {
			t.Errorf("shortNames(%v) = %q, want %q", tt.sources, got, tt.want)
		}
	}
}
