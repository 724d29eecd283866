package kvm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/libvirt"
	"example.org/homenode/source/proxmox"
	"example.org/homenode/source/qemu"
	"example.org/homenode/source/text"
	"example.org/homenode/source/vmxlog"
)

// root returns the folder of path, and the name of a single file; "" for all files.
func root(path string) (fsys fs.FS, only string, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, "", err
	case info.IsDir():
		return os.DirFS(path), "", nil
	case !info.Mode().IsRegular():
		return nil, "", fmt.Errorf("%s: it is no regular file", path)
	}
	return os.DirFS(filepath.Dir(path)), filepath.Base(path), nil
}

// walk calls do for each file, in the order of their names, and unread, unless nil, for each folder that cannot be read.
func walk(fsys fs.FS, only string, unread func(name string, err error), do func(name string) error) error {
	if only != "" {
		if err := do(only); err != fs.SkipAll {
			return err
		}
		return nil
	}
	n := 0
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name != ".":
			if unread != nil {
				unread(name, err)
			}
			return nil
		case err != nil:
			return err
		case d.Type().IsRegular():
		default:
			if why := passedOver(d); why != nil && unread != nil {
				unread(name, why)
			}
			if d.IsDir() && strings.Count(name, "/") >= maxDepth {
				if unread != nil {
					unread(name, fmt.Errorf("it lies more than %d folders deep", maxDepth))
				}
				return fs.SkipDir
			}
			return nil
		}
		if n++; n > maxFiles {
			return fmt.Errorf("found more than %d files", maxFiles)
		}
		return do(name)
	})
}

// passedOver returns the reason for skipping an entry that is no regular file, although its name is that of a bundle file or it may link
// to some; nil for other entries.
func passedOver(d fs.DirEntry) error {
	named := meant(d.Name())
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link, which is not followed")
	case d.IsDir() && named:
		return errors.New("it is a folder, where a file is due")
	case named:
		return errors.New("it is no regular file")
	}
	return nil
}

// meant reports whether the name is that of a file of a bundle.
func meant(name string) bool {
	return IsText(name) || slices.Contains([]string{".xml", ".args", ".conf", ".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// accepts returns the reader of a bundle file that begins with head; nil if there is none, and for a backup of another file or a log of ESXi. In a file with
// an unspecific name, text with QEMU options is a definition only if it is a process list (ps), or a script or log with the command: manuals contain such text too.
func accepts(name string, head []byte) func(name string, r io.Reader) ([]fact.Document, error) {
	ext := strings.ToLower(filepath.Ext(name))
	switch {
	case meant(name):
	case strings.HasSuffix(ext, "~"), slices.Contains(backups, ext), vmxlog.IsName(strings.ToLower(filepath.Base(name))) && vmxlog.Detect(head):
		return nil
	case qemu.Detect(head) && !qemu.Listed(head) && !libvirt.Detect(head) && !proxmox.Detect(head) && !(slices.Contains(scripts, ext) && command.Match(head)):
		return nil
	}
	return readerOf(head)
}

var (
	// backups are the extensions of backups of definitions.
	backups = []string{".bak", ".backup", ".orig", ".old", ".save", ".swp", ".rpmsave", ".rpmorig", ".rpmnew", ".dpkg-old", ".dpkg-dist"}
	// scripts are the extensions of scripts and logs with the command of a VM, such as /var/log/libvirt/qemu/vm.log.
	scripts = []string{"", ".sh", ".bash", ".txt", ".log", ".cmd"}
	// command matches a line that runs QEMU, alone or by another command, with options in this line or the next one.
	command = pattern.Of(`(?m)^\s*(?:(?:exec|sudo|nohup|setsid|env|nice|ionice|chrt|taskset|numactl|\w+=\S*)(?:[ \t]+[^\s#]+)*?[ \t]+)*(?:/\S*/)?(?:qemu-system-[a-z0-9_]+|qemu-kvm)[ \t]+(?:\\\s*$|-)`)
)

// IsText reports whether the name is that of a text file beside the XML.
func IsText(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	return base == numastatName || base == pidsName
}

func headOf(fsys fs.FS, name string) []byte {
	f, err := fsys.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, text.HeadSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil
	}
	return text.Decoded(head[:n])
}
