package tables

import (
	"path/filepath"
	"testing"

	"example.org/homenode/numa"
)

// TestSample reads the public exports that may lie beside the checkout; they are
// not part of the project.
func TestSample(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "samples", "rvtools", "*.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no samples beside the checkout")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if !Detect(file) {
				t.Error("Detect() = false, want true")
			}
			f, err := Read(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.VMs) == 0 || len(f.Hosts) == 0 {
				t.Errorf("found %d VMs and %d hosts, want some", len(f.VMs), len(f.Hosts))
			}
			for _, h := range f.Hosts {
				if !h.Release.Known() && !h.Packages.Known() { // only a VM names it
					continue
				}
				if h.Nodes.Origin.Kind != numa.Assumed || len(h.Nodes.Value) != h.Packages.Value {
					t.Errorf("host %s: nodes %v of %d packages, want one assumed for each", h.Name, h.Nodes, h.Packages.Value)
				}
			}
			for _, v := range f.VMs {
				if v.Settings.Known() || v.AutoCoresPerSocket.Known() {
					t.Errorf("VM %s: settings known that RVTools does not export", v.Name)
				}
			}
		})
	}
}
