package parquet

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	// rowsPerGroup bounds memory, because a row group stays in memory until it is complete. DuckDB
	// gives each thread 122,880 rows at a time, so a group of about that size keeps its threads busy.
	rowsPerGroup = 128 << 10
	// rowsPerFile bounds memory too: a file keeps the locations of its row groups until its end. A day
	// of 400 VMs every 5 seconds has 120 million rows.
	rowsPerFile = 256 * rowsPerGroup
	// batch is the number of rows passed to the library at a time: enough to spread the cost of a
	// call, few enough for the second-level cache.
	batch = 1 << 10
)

// compression at the fastest level: the default level needs 12 % more time and saves 8 % of the size.
var compression = &zstd.Codec{Level: zstd.SpeedFastest}

// A row is the schema of docs/reference/parquet.md.
type row struct {
	Time    int64   `parquet:"time,timestamp(millisecond)"`
	Host    string  `parquet:"host,dict"`
	Kind    string  `parquet:"kind,dict"`
	Entity  string  `parquet:"entity,dict"`
	GID     *int64  `parquet:"gid,optional"`
	Node    *int64  `parquet:"node,optional"`
	Counter string  `parquet:"counter,dict"`
	Value   float64 `parquet:"value"`
	File    string  `parquet:"file,dict"`
	Line    *int64  `parquet:"line,optional"`
}

// A part is one file during writing, under a temporary name in its folder.
type part struct {
	host string
	day  int64  // since 1970
	path string // final path
	file *os.File
	buf  *bufio.Writer
	out  *parquet.GenericWriter[row]
	rows []row
	// Targets of the pointers in the optional columns of rows: a full slice is replaced, never grown.
	numbers []int64
	written int // rows
}

// create begins a file. The leading dot hides it from Spark, the suffix .tmp from DuckDB's *.parquet.
// The random part keeps two writers of one input apart.
func create(folder, name string) (*part, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	temporary := filepath.Join(folder, "."+name+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	p := &part{path: filepath.Join(folder, name), file: f, buf: bufio.NewWriterSize(f, 256<<10),
		rows: make([]row, 0, batch), numbers: make([]int64, 0, 4*batch)}
	p.out = parquet.NewGenericWriter[row](p.buf, parquet.Compression(compression), parquet.MaxRowsPerRowGroup(rowsPerGroup),
		// The column index has the bounds of every page; without this option they would be computed
		// again for the page's header. Bounds cannot be left out of the index with SkipPageBounds:
		// v0.32 then writes "" as minimum and maximum, and Spark skips all pages.
		parquet.DataPageStatistics(false),
		// Numbers of VMs, nodes and lines are repeated many times in sequence.
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked), parquet.CreatedBy("homenode", "", ""))
	return p, nil
}

// number returns a pointer to a copy of n, valid until settle.
func (p *part) number(n int64) *int64 {
	if len(p.numbers) == cap(p.numbers) { // rows point into the full slice
		p.numbers = make([]int64, 0, 2*cap(p.numbers))
	}
	p.numbers = append(p.numbers, n)
	return &p.numbers[len(p.numbers)-1]
}

func (p *part) write(r *row) error {
	p.rows = append(p.rows, *r)
	if len(p.rows) < cap(p.rows) {
		return nil
	}
	return p.flush()
}

// settle is called when only the rows in p.rows point to numbers.
func (p *part) settle() error {
	if len(p.numbers) < cap(p.numbers)/2 {
		return nil
	}
	err := p.flush()
	p.numbers = p.numbers[:0]
	return err
}

func (p *part) flush() error {
	n, err := p.out.Write(p.rows)
	p.written += n
	p.rows = p.rows[:0]
	return err
}

// close finishes the file, which keeps its temporary name.
func (p *part) close() error {
	err := p.flush()
	if err == nil {
		err = p.out.Close()
	}
	if err == nil {
		err = p.buf.Flush()
	}
	if err == nil {
		// Without Sync a power failure may leave the name without the contents.
		err = p.file.Sync()
	}
	return errors.Join(err, p.file.Close())
}
