//go:build !linux && !windows

package guest

import "errors"

func systemUsage() (usage, error) { return usage{}, errors.ErrUnsupported }

func runnable() (float64, error) { return 0, errors.ErrUnsupported }
