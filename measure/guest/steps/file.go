package steps

import (
	"context"
	"errors"
	"os"
)

const block = 4 << 10 // bytes of a read or write

// cachedRead reads the beginning of this program, which is in the page cache.
func cachedRead(ctx context.Context, o *Options) (_ []float64, err error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffer := make([]byte, block)
	return batch(ctx, o, 16, func() error {
		_, err := f.ReadAt(buffer, 0)
		return err
	})
}

func fileSync(ctx context.Context, o *Options) ([]float64, error) {
	return writes(ctx, o, (*os.File).Sync)
}

// writes measures writes of 4 KiB into a file of 1 MiB with synchronisation. It removes the file.
func writes(ctx context.Context, o *Options, sync func(*os.File) error) (_ []float64, err error) {
	f, err := temporary(o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffer := make([]byte, block)
	const blocks = 256
	for i := range blocks {
		if _, err := f.WriteAt(buffer, int64(i)*block); err != nil {
			return nil, err
		}
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	few, i := *o, 0
	few.Samples = min(o.Samples, 300)
	return Loop(ctx, &few, func() error {
		i = (i + 97) % blocks
		buffer[0]++
		if _, err := f.WriteAt(buffer, int64(i)*block); err != nil {
			return err
		}
		return sync(f)
	})
}
