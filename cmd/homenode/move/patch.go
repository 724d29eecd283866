package move

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"homenode/change/move"
	"homenode/internal/bounded"
	"homenode/internal/words"
	answers "homenode/output/move"
	"homenode/output/move/target"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/source/definition"
	"homenode/source/kvm"
	"homenode/source/libvirt"
)

// A foreign file is a domain that another tool wrote.
type foreign struct {
	path, name string
	data       []byte
}

// foreigns reads a file, or the files of a folder that end in .xml.
func foreigns(path string) (out []foreign, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	paths := []string{path}
	if info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(globbed.Replace(path), "*.xml")); err != nil {
			return nil, err
		}
	}
	for _, one := range paths {
		data, err := bounded.File(one, bounded.Written)
		if err != nil {
			return nil, err
		}
		out = append(out, foreign{one, filepath.Base(one), data})
	}
	if out == nil {
		return nil, fmt.Errorf("%s: found no file that ends in .xml", path)
	}
	return out, nil
}

// identityOf reads the domain in a file.
func identityOf(f *foreign) (*definition.VM, error) {
	docs, err := libvirt.Read(f.path, bytes.NewReader(f.data))
	if err != nil {
		return nil, err
	}
	if vm, ok := docs[0].(*definition.VM); ok && len(docs) == 1 {
		return vm, nil
	}
	return nil, fmt.Errorf("%s: found no <domain>, or several documents, want one <domain>", f.path)
}

// judged returns the findings of the KVM checks about a domain, medium and above.
func judged(name string, data []byte) ([]finding.Finding, error) {
	fleet, err := kvm.ReadBytes(name, data)
	if err != nil {
		return nil, err
	}
	r := rules.Run(fleet, rules.Options{})
	return slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return f.Severity < finding.Medium }), nil
}

// globbed escapes the pattern characters in the name of a folder.
var globbed = strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`)

// patchFiles patches the domains at a path, and writes them into a folder with their names; "" writes nothing. renamed: the only
// file is the domain of the only move, regardless of their names.
func patchFiles(path, folder string, moves []*move.Move, renamed bool) ([]answers.Patch, error) {
	files, err := foreigns(path)
	if err != nil {
		return nil, fmt.Errorf("--patch: %w", err)
	}
	if renamed && (len(files) != 1 || len(moves) != 1) {
		return nil, fmt.Errorf("--renamed: found %s and %s, want one of each", words.Plural(len(files), "file"), words.Plural(len(moves), "VM"))
	}
	var list []answers.Patch
	results := make([][]byte, len(files))
	for i, f := range files {
		one := answers.Patch{File: f.name}
		id, err := identityOf(&f)
		if err != nil {
			return nil, fmt.Errorf("--patch: %w", err)
		}
		m, named, why := ownerOf(&f, id, moves)
		if m == nil && renamed {
			m, why = moves[0], ""
		}
		if m != nil {
			one.Differs = differences(id, m)
			if !named && !renamed && len(one.Differs) > 0 {
				one.Differs, why = nil, fmt.Sprintf("only its file is named as the VM %s is: %s: %s", m.Title, strings.Join(one.Differs, "; "), renames)
				m = nil
			}
		}
		switch {
		case m == nil:
			one.Why = why
		case m.Refused != nil:
			one.VM, one.Why = m.Title, strings.Join(m.Refused, "; ")
		default:
			one.VM = m.Title
			p, err := target.Patch(f.path, f.data, m)
			if err != nil {
				return nil, fmt.Errorf("--patch: %w", err)
			}
			if p.Why != "" {
				one.Why = p.Why
				break
			}
			one.Changes, results[i] = p.Changes, p.Data
			if one.Faults, err = judged(f.path, p.Data); err != nil {
				return nil, fmt.Errorf("--patch: %w", err)
			}
		}
		list = append(list, one)
	}
	return list, save(folder, files, results)
}

// save writes the results of files into a folder; nil is none, and "" writes nothing.
func save(folder string, files []foreign, results [][]byte) error {
	if folder == "" || !slices.ContainsFunc(results, func(data []byte) bool { return data != nil }) {
		return nil
	}
	out, err := open(folder)
	if err != nil {
		return err
	}
	for i, f := range files {
		if results[i] != nil {
			out.write(f.name, func(w io.Writer) error { _, err := w.Write(results[i]); return err })
		}
	}
	return out.close()
}

// renames explains how to patch a domain with another name than its VM.
const renames = "if it is that VM, name the two with --vm, --patch FILE and --renamed"

// ownerOf returns the move of a domain: matched by its UUID, its name, its title or, with named false, the name of the file.
func ownerOf(f *foreign, id *definition.VM, moves []*move.Move) (m *move.Move, named bool, why string) {
	base := strings.TrimSuffix(strings.TrimSuffix(f.name, ".xml"), ".libvirt")
	for i, by := range []string{id.UUID, id.Name, id.Title, base} {
		var found []*move.Move
		for _, m := range moves {
			if by == "" {
				continue
			}
			if i == 0 && strings.EqualFold(m.VM.UUID, by) || i > 0 && (strings.EqualFold(m.Title, by) || m.Name == by) {
				found = append(found, m)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], i < 3, ""
		default:
			if i > 0 {
				return nil, false, fmt.Sprintf("%d VMs are named %s: patch it alone, with --vm and the ID of the VM", len(found), by)
			}
		}
	}
	names := slices.DeleteFunc([]string{id.Name, id.Title, base}, func(s string) bool { return s == "" })
	slices.Sort(names)
	return nil, false, fmt.Sprintf("no VM that is moved is named %s: %s", strings.Join(slices.Compact(names), " or "), renames)
}

// differences lists the differences between the domain and its VM: name, vCPUs and memory.
func differences(id *definition.VM, m *move.Move) (out []string) {
	if id.Name != "" && !strings.EqualFold(id.Name, m.Title) && id.Name != m.Name && !strings.EqualFold(id.Title, m.Title) {
		out = append(out, fmt.Sprintf("the domain is named %s, the VM %s", id.Name, m.Title))
	}
	if id.Stated == nil {
		return out
	}
	if n, has := m.VM.VCPUs, id.Stated.Most(); n.Known() && has != n.Value && (m.Shape == nil || has != m.Shape.Most()) {
		out = append(out, fmt.Sprintf("the domain has %s, the VM %d", words.Plural(has, "vCPU"), n.Value))
	}
	if n, has := m.VM.Memory, id.Memory; has.Known() && n.Known() && has.Value != n.Value && (m.Shape == nil || has.Value != m.Shape.Memory) {
		out = append(out, fmt.Sprintf("the domain has %s, the VM %s", has.Value, n.Value))
	}
	return out
}
