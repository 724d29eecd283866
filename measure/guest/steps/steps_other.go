//go:build !linux && !windows

package steps

import "context"

const syscallAbout = ""

func systemCall(context.Context, *Options) ([]float64, error) { return nil, ErrNotHere }

func dataSync(context.Context, *Options) ([]float64, error) { return nil, ErrNotHere }

// InMemory returns the kind of file system that keeps the files of dir in memory; "" for another kind, or if unknown.
func InMemory(string) (string, error) { return "", nil }
