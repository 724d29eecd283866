package esxtop

import (
	"hash/maphash"
	"math/bits"
)

// names is a hash table of the names of columns, which are nearly always different: it stores 8
// bytes of each, so that it fits a core's L2 cache.
type names struct {
	seed  maphash.Seed
	cells []nameCell // a power of two, more than the names
}

type nameCell struct {
	hash   uint32
	column int32 // from 1; 0 in an empty cell
}

func newNames(n int) *names {
	return &names{maphash.MakeSeed(), make([]nameCell, 2<<bits.Len(uint(n)))}
}

// add adds the name of a column. When there is one with the same hash, most likely the same name,
// it returns the first of those instead.
func (t *names) add(name []byte, column int) (earlier int, ok bool) {
	hash := maphash.Bytes(t.seed, name)
	mask := len(t.cells) - 1
	for i := int(hash>>32) & mask; ; i = (i + 1) & mask {
		switch c := &t.cells[i]; {
		case c.column == 0:
			c.hash, c.column = uint32(hash), int32(column+1)
			return 0, false
		case c.hash == uint32(hash):
			return int(c.column - 1), true
		}
	}
}
