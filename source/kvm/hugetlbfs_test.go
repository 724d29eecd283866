package kvm

import (
	"fmt"
	"testing"
)

// TestHugetlbfs: a path below a mount of hugetlbfs has huge pages, of the size in its name or else of the host's default; the name of a VM
// says nothing.
func TestHugetlbfs(t *testing.T) {
	const file = "-object memory-backend-file,id=a,size=2G,mem-path=%s -numa node,cpus=0-1,memdev=a"
	for in, want := range map[string]string{
		fmt.Sprintf(file, "/dev/hugepages/libvirt/qemu/3-jv"):                                        "0 B of [0 B] default=true",
		fmt.Sprintf(file, "/dev/hugepages1G/libvirt/qemu/3-jv"):                                      "1 GB of [0 B] default=false",
		fmt.Sprintf(file, "/run/hugepages/kvm/1048576kB"):                                            "1 GB of [0 B] default=false",
		fmt.Sprintf(file, "/mnt/huge_1G"):                                                            "1 GB of [0 B] default=false",
		fmt.Sprintf(file, "/hugetlbfs-1g/a"):                                                         "1 GB of [0 B] default=false",
		fmt.Sprintf(file, "/mnt/huge/pagesize-2MB"):                                                  "2 MB of [0 B] default=false",
		fmt.Sprintf(file, "/mnt/HugePages-2048kB/x"):                                                 "2 MB of [0 B] default=false",
		fmt.Sprintf(file, "/dev/hugepages/vm3G"):                                                     "0 B of [0 B] default=true",
		fmt.Sprintf(file, "/dev/hugepages/libvirt/qemu/3-db1G"):                                      "0 B of [0 B] default=true",
		fmt.Sprintf(file, "/var/lib/libvirt/qemu/ram/3-huge1G/ram-node0"):                            "0 B of [0 B] default=false",
		fmt.Sprintf(file, "/dev/shm/1G"):                                                             "0 B of [0 B] default=false",
		"-mem-path /dev/hugepages1G":                                                                 "1 GB of [0 B] default=false",
		"-mem-path /dev/hugepages":                                                                   "0 B of [0 B] default=true",
		"-mem-path /dev/hugepages1G -numa node,cpus=0-1,mem=2G":                                      "1 GB of [0 B] default=false",
		"-machine memory-backend=a -object memory-backend-file,id=a,size=2G,mem-path=/dev/hugepages": "0 B of [0 B] default=true",
		"-object memory-backend-memfd,id=a,size=2G,hugetlb=on -numa node,cpus=0-1,memdev=a":          "0 B of [0 B] default=true",
		"-object memory-backend-file,id=a,size=1G,mem-path=/dev/hugepages -object memory-backend-ram,id=b,size=1G -numa node,cpus=0,memdev=a -numa node,cpus=1,memdev=b": "0 B of [-1 B 0 B] default=false",
		`-object {"qom-type":"memory-backend-file","id":"a","mem-path":"/dev/hugepages1G/libvirt/qemu/3-jv","size":2147483648} -numa node,cpus=0-1,memdev=a`:             "1 GB of [0 B] default=false",
	} {
		s := fleetOf(t, "a.args", "-m 2G -smp 2 "+in).VMs[0].Stated
		var cells []string
		for i := range s.Cells {
			cells = append(cells, s.Cells[i].Page.String())
		}
		if got := fmt.Sprintf("%s of %v default=%v", s.Page, cells, s.DefaultPage); got != want {
			t.Errorf("%s: found %s, want %s", in, got, want)
		}
	}
}
