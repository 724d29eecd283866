package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/homenode/numa"
)

// The first bytes of the formats; tar has its magic at 257.
const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
	zipMagic  = "PK\x03\x04"
	zipEmpty  = "PK\x05\x06"
	tarMagic  = "ustar"
	tarAt     = 257
)

const (
	buffer = 256 << 10
	// ratioFrom is the number of unpacked bytes from which MaxRatio is checked: a small file may compress well.
	ratioFrom = 256 << 20
	// maxWindow bounds the memory of zstd: zstd -19 needs at most 8 MiB, --long=26 64 MiB.
	maxWindow = 64 << 20
)

// stream visits the contents of r: an archive, a compressed file, or a plain file. name is that of r; depth
// the number of archives around it.
func (w *walker) stream(name string, size int64, r *bufio.Reader, depth int) error {
	head, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)), bytes.HasPrefix(head, []byte(zstdMagic)):
		return w.packed(name, r, string(head), depth)
	case isTar(r):
		return w.tar(name, r, depth)
	}
	return w.member(name, size, r)
}

func isTar(r *bufio.Reader) bool {
	head, err := r.Peek(tarAt + len(tarMagic))
	return err == nil && string(head[tarAt:]) == tarMagic
}

// packed visits the contents of a gzip or zstd stream.
func (w *walker) packed(name string, r io.Reader, magic string, depth int) error {
	in := &counter{r: r}
	var unpacked io.Reader
	if strings.HasPrefix(magic, gzipMagic) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: not a gzip file: %w", name, err)
		}
		unpacked = z
	} else {
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return fmt.Errorf("%s: not a zstd file: %w", name, err)
		}
		defer z.Close()
		unpacked = z
	}
	out := bufio.NewReaderSize(&bounded{w: w, name: name, in: in, r: unpacked}, buffer)
	if isTar(out) {
		return w.tar(name, out, depth)
	}
	return w.member(name, -1, out)
}

// A counter counts the packed bytes.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// A bounded reader unpacks within the bounds of Options.
type bounded struct {
	w    *walker
	name string
	in   *counter
	r    io.Reader
	n    int64
	err  error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	b.w.bytes += int64(n)
	switch o := &b.w.opt; {
	case b.w.bytes > o.MaxBytes:
		err = &errBound{fmt.Sprintf("%s: unpacks to more than %d bytes: not read further", b.name, o.MaxBytes)}
	case b.n > o.RatioFrom && b.n/o.MaxRatio > b.in.n:
		err = b.w.tooPacked(b.name)
	}
	b.err = err
	return n, err
}

func (w *walker) tooPacked(name string) error {
	return &errBound{fmt.Sprintf("%s: unpacks to more than %d times its size: not read further", name, w.opt.MaxRatio)}
}

// tar visits the members of a tar stream.
func (w *walker) tar(name string, r *bufio.Reader, depth int) error {
	tr := tar.NewReader(&skipper{r})
	parts := &parts{w: w}
	last := "the beginning"
	err := func() error {
		for {
			h, err := tr.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				if final(err) {
					return err
				}
				return fmt.Errorf("%s: damaged or cut off at or behind %s: %w", name, last, err)
			}
			last = Clean(h.Name)
			if err := w.enter(name); err != nil {
				return err
			}
			if h.Typeflag != tar.TypeReg || last == "" {
				continue
			}
			full := name + "/" + last
			if err := w.inner(full, h.Size, tr, nil, depth, parts); w.damaged(full, err) != nil {
				return err
			}
		}
	}()
	return errors.Join(err, parts.close(err))
}

// inner visits a member of an archive of the given depth, or of a folder, whose
// depth is -1. at is the member for random access, nil when there is none.
func (w *walker) inner(full string, size int64, r io.Reader, at io.ReaderAt, depth int, parts *parts) error {
	if IsArchive(full) {
		switch {
		case depth >= 1:
			return nil
		case strings.HasSuffix(strings.ToLower(full), ".zip"):
			return w.innerZip(full, size, r, at, depth+1)
		}
		return w.stream(full, size, bufio.NewReaderSize(r, sized(size)), depth+1)
	}
	if base, n, ok := part(full); ok {
		if !w.wants(base) {
			return nil
		}
		return parts.add(base, n, r)
	}
	switch {
	case !w.wants(full):
		return nil
	case Plain(full) == full:
		return w.member(full, size, r)
	}
	// The name promises gzip or zstd, the first bytes decide. By its name, the content is no archive.
	return w.stream(full, size, bufio.NewReaderSize(r, buffer), depth+1)
}

// sized returns the buffer for a member of size bytes: many small ones cost little.
func sized(size int64) int {
	if size < 0 || size > buffer {
		return buffer
	}
	return max(int(size), 1024)
}

// A skipper allows archive/tar to skip members: it discards from the buffer instead of copying.
type skipper struct{ *bufio.Reader }

// Seek serves archive/tar only: it asks for the position, then moves forward.
func (s *skipper) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekCurrent || offset < 0 {
		return 0, errors.ErrUnsupported
	}
	for n := offset; n > 0; {
		d, err := s.Discard(int(min(n, 1<<30)))
		if n -= int64(d); err != nil && n > 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
	return offset, nil
}

// Unpack returns the contents of r, unpacked when it begins as gzip or zstd, within the limits of opt; name
// is used in messages. Other input is returned as is: the first bytes are read in place when r is an
// io.ReaderAt and io.Seeker.
func Unpack(name string, r io.Reader, opt Options) (io.ReadCloser, error) {
	head, r, err := Peek(r, len(gzipMagic)+2)
	if err != nil {
		return nil, numa.Located(name, err)
	}
	opt.bound()
	w := &walker{opt: opt}
	in := &counter{r: r}
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%s: not a gzip file: %w", name, err)
		}
		return io.NopCloser(&bounded{w: w, name: name, in: in, r: z}), nil
	case bytes.HasPrefix(head, []byte(zstdMagic)):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("%s: not a zstd file: %w", name, err)
		}
		return closing{&bounded{w: w, name: name, in: in, r: z}, z.Close}, nil
	}
	return Plainly(r), nil
}

// Packs reports whether r begins as a zip or tar; the position of r does not change when it is an io.ReaderAt
// and io.Seeker, or a *bufio.Reader.
func Packs(r io.Reader) bool {
	var head []byte
	if b, ok := r.(*bufio.Reader); ok {
		head, _ = b.Peek(tarAt + len(tarMagic))
	} else {
		head, _, _ = Peek(r, tarAt+len(tarMagic))
	}
	s := string(head)
	return strings.HasPrefix(s, zipMagic) || strings.HasPrefix(s, zipEmpty) || len(s) == tarAt+len(tarMagic) && s[tarAt:] == tarMagic
}

// Plainly adds a Close to r that does nothing, and keeps its other methods.
func Plainly(r io.Reader) io.ReadCloser {
	switch f := r.(type) {
	case *os.File:
		return plainFile{f}
	case heededAt:
		return f
	}
	if at, ok := r.(randomAccess); ok {
		return plainAt{at}
	}
	return io.NopCloser(r)
}

type randomAccess interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

type plainAt struct{ randomAccess }

func (plainAt) Close() error { return nil }

type plainFile struct{ *os.File }

func (plainFile) Close() error { return nil }

type closing struct {
	io.Reader
	end func()
}

func (c closing) Close() error {
	c.end()
	return nil
}

// Peek returns up to n bytes of the start of r, and a reader of all of it: r itself when it can be read at
// any place. An error after the first byte is left for the reader.
func Peek(r io.Reader, n int) (head []byte, all io.Reader, err error) {
	if at, ok := r.(randomAccess); ok {
		if pos, err := at.Seek(0, io.SeekCurrent); err == nil {
			head = make([]byte, n)
			got, err := at.ReadAt(head, pos)
			if err != nil && err != io.EOF && got == 0 {
				return nil, nil, err
			}
			return head[:got], r, nil
		}
	}
	b, ok := r.(*bufio.Reader)
	if !ok || b.Size() < n {
		b = bufio.NewReaderSize(r, max(n, buffer))
	}
	head, err = b.Peek(n)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, nil, err
	}
	return bytes.Clone(head), b, nil
}

// Pack appends b to dst as one zstd frame. Consecutive frames unpack as one file, and a truncated one loses
// only its own data.
func Pack(dst, b []byte) []byte { return packer().EncodeAll(b, dst) }

var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2))
	if err != nil {
		panic("archive: the options are constant: " + err.Error())
	}
	return e
})
