package manifests

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// TestCompose reads compose.yaml with the schema of compose, and checks that what it mounts is there.
func TestCompose(t *testing.T) {
	const file = "../../../deploy/container/compose.yaml"
	o, err := cli.NewProjectOptions([]string{file}, cli.WithName("homenode"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Services) != 3 {
		t.Errorf("found %d services", len(p.Services))
	}
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); v.Type == "bind" && err != nil && v.Target != "/secret" { // which secrets makes
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	h := p.Services["homenode"]
	if !h.ReadOnly || !slices.Contains(h.CapDrop, "ALL") || !slices.Contains(h.Command, "--token-file") || len(h.Ports) != 3 || h.Ports[0].HostIP != "127.0.0.1" {
		t.Errorf("homenode is %+v", h)
	}
}
