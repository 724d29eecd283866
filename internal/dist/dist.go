// Package dist has no code of its own: its tests take a release as a stranger does, from the files of dist that make release wrote. Each runs in a root
// of its own that has what was unpacked and nothing else: no Go, no shell, no library.
package dist
