package open

import (
	"example.org/homenode/internal/golden"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefusedInFolder: a folder with one file that is refused has the reason of that file.
func TestRefusedInFolder(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"flavor.json":       {`[{"Name":"m1","VCPUs":4,"RAM":8192,"Disk":40,"Ephemeral":0,"Is Public":true,"ID":"1"}]`, "flavors of OpenStack Nova"},
		"export.xls":        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "old binary .xls: save it as .xlsx"},
		"terraform.tfstate": {`{"version":4,"terraform_version":"1.9.0","resources":[]}`, "terraform show -json prints"},
		"list.csv":          {"Name,State,Host Mem\na,on,4 GB\n", "a table with 3 columns: Name, State, Host Mem"},
		"106.json":          {`{"cores":16,"memory":"131072","name":"pvesh","numa":1,"sockets":2,"digest":"abc"}`, "VMs of Proxmox, whose lists are not read"},
		"nodes.json":        {`[{"node":"pve1","maxcpu":64,"maxmem":549755813888,"status":"online","cpu":0.1}]`, "VMs of Proxmox, whose lists are not read"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		golden.Write(t, path, []byte(tt.content))
		for _, source := range []string{path, dir} {
			if f, err := File(source); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: found %v, %v; want %q", source, f, err, tt.want)
			}
		}
	}
}

// TestOnlyMemoryOfKVM: a folder with the memory of VMs of KVM and without their definitions lacks these, and no inventory of vSphere.
func TestOnlyMemoryOfKVM(t *testing.T) {
	dir := folderOf(t, t.TempDir(), map[string][]byte{"pids.txt": []byte("db 123\n")})
	if _, err := File(dir); err == nil || err.Error() != dir+": found no virsh capabilities and no definition of a VM" {
		t.Errorf("found %v", err)
	}
}
