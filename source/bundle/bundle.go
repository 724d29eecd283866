// Package bundle reads a fleet from files of hosts and VMs: .vmx files, vmware.log and the command outputs of
// vm-support, as single files, in folders or in archives. A VM has the settings of its .vmx or, without one, those of
// its last power-on; each power-on in its logs is an observation. Host data is limited to the contents of the logs
// and the bundle.
package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/text"
	"example.org/homenode/source/vmx"
	"example.org/homenode/source/vmxlog"
)

// A use is the file type that a reader assumes.
type use uint8

const (
	useless use = iota
	vmxFile
	vmLog
	perhapsLog // a saved or pasted log under any name: its content decides
	command    // an output in vm-support
)

// useOf returns the use of a file by its name.
func useOf(name string) use {
	name = strings.ToLower(archive.Plain(name))
	base := path.Base(name)
	switch ext := path.Ext(base); {
	case ext == ".vmx", ext == ".vmtx":
		return vmxFile
	case vmxlog.IsName(base):
		return vmLog
	case (ext == ".log" || ext == ".txt") && !ofTheHost(name):
		return perhapsLog
	}
	if isCommand(name) {
		return command
	}
	return useless
}

// Reads reports whether Read reads a file with this name and beginning. head is called for ambiguous names such as
// a.txt only.
func Reads(name string, head []byte) bool {
	u := useOf(name)
	return u != useless && (u != perhapsLog || vmxlog.Detect(head) || vmx.Detect(head) || isOutput(head))
}

// Names reports whether the name alone shows that Read reads the file.
func Names(name string) bool { return useOf(name) != perhapsLog && useOf(name) != useless }

// ofTheHost reports whether a file of a vm-support bundle belongs to no VM: those folders contain hundreds of logs.
func ofTheHost(name string) bool {
	for _, dir := range []string{"/commands/", "/var/", "/etc/", "/proc/", "/tmp/", "/scratch/", "/json/", "/usr/", "/error/", "/hung-vms/", "/vmkdump/"} {
		if strings.Contains(name, dir) {
			return true
		}
	}
	return false
}

// detectLimit is the maximum number of files of a folder that Detect checks.
const detectLimit = 20_000

// Detect reports whether Read can probably read path: an archive, a folder with a .vmx, a log or an archive in it, or
// a file with such content.
func Detect(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if info.IsDir() {
		return detectFolder(path)
	}
	if archive.IsArchive(path) || archive.Plain(path) != path {
		return true
	}
	head := bounded.Head(path, text.HeadSize)
	u := useOf(path)
	return head != nil && (u == vmxFile || u == vmLog || vmx.Detect(head) || vmxlog.Detect(head))
}

func detectFolder(dir string) bool {
	found, n := false, 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > detectLimit {
			return fs.SkipAll
		}
		if d.Type().IsRegular() {
			u := useOf(filepath.ToSlash(p))
			found = u == vmxFile || u == vmLog || archive.IsArchive(p) || u == perhapsLog && vmxlog.Detect(bounded.Head(p, text.HeadSize))
		}
		if found {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && found
}

// Read reads the fleet at path. Damage and skipped parts are listed in its notes; Read fails if there is neither a VM
// nor a host.
func Read(path string) (*numa.Fleet, error) {
	c := &collector{}
	err := archive.Walk(path, archive.Options{
		Want:    func(name string) bool { return useOf(name) != useless },
		Damaged: c.damage,
	}, c.visit)
	if err != nil {
		if len(c.logs)+len(c.configs)+len(c.outputs) == 0 || errors.Is(err, archive.ErrMany) {
			return nil, numa.Located(path, err)
		}
		c.damage(path, err)
	}
	fleet, err := c.fleet(path)
	if err != nil {
		return nil, err
	}
	return fleet, fleet.Check()
}
