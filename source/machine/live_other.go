//go:build !linux && !(windows && (amd64 || arm64))

package machine

import (
	"errors"
	"runtime"
)

func read() (*Machine, error) {
	return nil, errors.New("the topology of " + runtime.GOOS + " cannot be read: want Linux or Windows")
}
