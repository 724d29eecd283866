package report

import (
	"io"

	"homenode/numa"
	"homenode/output/draw/topo"
)

type matricesJSON struct {
	Format   string       `json:"format"`
	Version  int          `json:"version"`
	Event    string       `json:"event"`
	Clusters []matrixJSON `json:"clusters"`
}

type matrixJSON struct {
	Cluster string      `json:"cluster"`
	Columns []kindJSON  `json:"columns"`
	Rows    []matrixRow `json:"rows"`
	LeftOut int         `json:"leftOut"`
}

type matrixRow struct {
	VMs   []string     `json:"vms"`
	IDs   []string     `json:"ids"`
	VCPUs int          `json:"vcpus"`
	Home  *int         `json:"home"` // index in columns; null when it is on none
	Cells []matrixCell `json:"cells"`
}

type matrixCell struct {
	Mark  topo.Mark `json:"mark"`
	Short string    `json:"short,omitempty"`
	VPDs  []int     `json:"vpds,omitempty"`
	PPDs  []int     `json:"ppds,omitempty"`
	Far   float64   `json:"farShare"`
}

// MatrixJSON writes the matrices as JSON.
func MatrixJSON(w io.Writer, all []*topo.Matrix) error {
	j := matricesJSON{Format: "homenode-matrix", Version: JSONVersion, Clusters: []matrixJSON{}}
	for _, m := range all {
		j.Event = m.Event.String()
		one := matrixJSON{Cluster: m.Title, Columns: []kindJSON{}, Rows: []matrixRow{}, LeftOut: m.Same}
		for i := range m.Columns {
			c := &m.Columns[i]
			k := &c.Kind.Machine
			one.Columns = append(one.Columns, kindJSON{hostNames(c.Hosts), k.Release, k.Nodes, k.Cores, numa.Bytes(k.NodeMemory)})
		}
		for i := range m.Rows {
			r := &m.Rows[i]
			row := matrixRow{VCPUs: r.VCPUs}
			if r.Home >= 0 {
				row.Home = &r.Home
			}
			for _, v := range r.VMs {
				row.VMs, row.IDs = append(row.VMs, v.Name), append(row.IDs, v.ID)
			}
			for j := range r.Cells {
				c := &r.Cells[j]
				cell := matrixCell{Mark: c.Mark}
				if l := c.Layout; l != nil {
					cell = matrixCell{c.Mark, c.Short(), l.VPDs.Sizes(), l.PPDs.Sizes(), l.FarShare()}
				}
				row.Cells = append(row.Cells, cell)
			}
			one.Rows = append(one.Rows, row)
		}
		j.Clusters = append(j.Clusters, one)
	}
	return writeJSON(w, &j)
}
