package chart

import (
	"cmp"
	"fmt"
	"strings"

	"homenode/output/draw/picture"
)

// Sizes of bars.
const (
	rowHeight = picture.Px(270)
	barHeight = picture.Px(190)
	mostName  = picture.Px(2400)
	mostValue = picture.Px(2200)
)

func (l *layout) bars(c *Bars) {
	m := l.measured(c)
	name := ""
	if m.limits {
		name = cmp.Or(c.Limit, "limit")
	}
	l.barLegend(m.rows, m.order, name, m.ranges)
	left, right := margin+m.names+100, width-margin-m.values-60
	if !c.X.Log {
		m.reach.add(0)
	} else if m.reach.any {
		m.reach.low /= 1.25 // the shortest bar can be seen
	}
	each := picture.Px(700)
	if c.X.Log {
		each = 480 // powers of ten are short
	}
	s := scaleOf(&c.X, m.reach, max(int((right-left)/each), 2), true, true)
	s.from, s.to = left, right
	top := l.y
	bottom := top + picture.Px(max(len(m.rows), 1))*rowHeight + 40
	g := picture.Group{ID: l.id("grid", ""), Class: "grid"}
	for _, t := range s.ticks {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "gridline", X: s.at(t), Y: top, H: bottom - top})
	}
	g.Shapes = append(g.Shapes, picture.Shape{Class: "floor", X: left, Y: top, H: bottom - top})
	l.pic.Add(g)
	for i := range m.rows {
		l.bar(&s, &m.rows[i], m.kinds, name, top+40+picture.Px(i)*rowHeight)
	}
	if len(m.rows) == 0 || !m.reach.any {
		l.nothing((left+right)/2, (top+bottom)/2+38)
	}
	l.y = bottom + l.xAxis(&s, bottom)
}

// barSizes is what bars need room for.
type barSizes struct {
	rows           []Row // that have a place
	kinds          map[string]int
	order          []string // of the kinds
	reach          reach
	names, values  picture.Px // the widest of them
	limits, ranges bool       // some row has them
}

func (l *layout) measured(c *Bars) barSizes {
	m := barSizes{rows: make([]Row, len(c.Rows)), kinds: map[string]int{}}
	for i := range c.Rows {
		m.rows[i] = l.row(&c.X, &c.Rows[i])
		row := &m.rows[i]
		m.names = max(m.names, picture.Wide(picture.Cut(row.Name, mostName, letter), letter))
		m.values = max(m.values, picture.Wide(picture.Cut(row.Value, mostValue, bold), bold))
		sum := 0.0
		for _, s := range row.Segments {
			sum += s.Value
			m.reach.add(sum)
			if _, known := m.kinds[s.Kind]; !known {
				m.kinds[s.Kind] = len(m.order)
				m.order = append(m.order, s.Kind)
			}
			if s.ranged() {
				m.reach.add(s.High)
				if c.X.has(s.Low) {
					m.reach.add(s.Low)
				}
				m.ranges = true
			}
		}
		if row.Limit != 0 {
			m.reach.add(row.Limit)
			m.limits = true
		}
	}
	return m
}

func (s *Segment) ranged() bool { return s.Low != 0 || s.High != 0 }

// row returns the row without what has no place, and counts that.
func (l *layout) row(a *Axis, r *Row) Row {
	out := *r
	out.Segments = nil
	sum := 0.0
	for _, s := range r.Segments {
		if !a.has(s.Value) || s.Value < 0 || !a.has(sum+s.Value) || a.Log && len(out.Segments) > 0 {
			l.left++
			continue
		}
		sum += s.Value
		low := a.has(s.Low) || a.Log && s.Low == 0
		if s.ranged() && (!low || !a.has(s.High) || s.Low < 0 || s.Low > s.High) {
			l.left++
			s.Low, s.High = 0, 0
		}
		out.Segments = append(out.Segments, s)
	}
	if r.Limit != 0 && (!a.has(r.Limit) || r.Limit < 0) {
		l.left++
		out.Limit = 0
	}
	return out
}

// barLegend explains the kinds of segments, limits and ranges. A kind that is only drawn
// lightly is shown so.
func (l *layout) barLegend(rows []Row, order []string, limit string, ranges bool) {
	var entries []entry
	for i, kind := range order {
		soft := true
		for j := range rows {
			for _, s := range rows[j].Segments {
				soft = soft && (s.Soft || s.Kind != kind)
			}
		}
		if kind == "" {
			continue
		}
		entries = append(entries, entry{class: fmt.Sprintf("kind-%d", i%picture.Textures), text: kind,
			shapes: func(x, y picture.Px) []picture.Shape {
				return []picture.Shape{{Class: "swatch", X: x, Y: y + 10, W: 260, H: 120, Fill: l.fill(i, soft)}}
			}})
	}
	if ranges {
		entries = append(entries, entry{class: "range", text: "range", shapes: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "whisker", Path: level(y+70, x, x+260)}}
		}})
	}
	if limit != "" {
		entries = append(entries, entry{class: "limit", text: limit, shapes: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "capacity", X: x + 130, Y: y, H: 140}}
		}})
	}
	l.legend(entries)
}

// bar places a row: its name, the segments, the range, the limit and the value.
func (l *layout) bar(s *scale, r *Row, kinds map[string]int, limit string, y picture.Px) {
	base := y + barHeight/2 + 40
	g := picture.Group{ID: l.id("row", r.Name), Class: "row", Focus: true}
	g.Shapes = append(g.Shapes, picture.Shape{Class: "label", X: s.from - 70, Y: base, Text: picture.Cut(r.Name, mostName, letter)})
	end, sum := s.from, 0.0
	var parts []string
	var over []picture.Shape
	for _, seg := range r.Segments {
		x := s.from
		if sum > 0 {
			x = s.at(sum)
		}
		sum += seg.Value
		to := s.at(sum)
		kind := kinds[seg.Kind] % picture.Textures
		if to > x {
			g.Shapes = append(g.Shapes, picture.Shape{Class: fmt.Sprintf("bar kind-%d", kind), X: x, Y: y, W: to - x, H: barHeight, Fill: l.fill(kind, seg.Soft)})
		}
		end = max(end, to)
		if seg.ranged() {
			low := s.from
			if s.axis.has(seg.Low) {
				low = s.at(seg.Low)
			}
			over = append(over, picture.Shape{Class: "whisker", Path: level(y+barHeight/2, low, s.at(seg.High))})
			end = max(end, s.at(seg.High))
		}
		parts = append(parts, segmentText(s.axis, &seg))
	}
	g.Shapes = append(g.Shapes, over...)
	if r.Limit != 0 {
		x := s.at(r.Limit)
		g.Shapes = append(g.Shapes, picture.Shape{Class: "capacity", X: x, Y: y - 30, H: barHeight + 60})
		parts = append(parts, cmp.Or(limit, "limit")+" "+s.axis.text(r.Limit))
		if end+picture.Wide(picture.Cut(r.Value, mostValue, bold), bold)+120 > x {
			end = max(end, x)
		}
	}
	if r.Value != "" {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "value", X: end + 60, Y: base, Text: picture.Cut(r.Value, mostValue, bold)})
	}
	g.Numbers = r.Name
	if r.Value != "" {
		g.Numbers += ": " + r.Value
	}
	if text := strings.Join(parts, ", "); text != "" && text != r.Value {
		g.Numbers += " (" + text + ")"
	}
	l.pic.Add(g)
}

func segmentText(a *Axis, s *Segment) string {
	text := a.text(s.Value)
	if s.Kind != "" {
		text = s.Kind + " " + text
	}
	if s.ranged() {
		text += ", " + a.text(s.Low) + " to " + a.text(s.High)
	}
	return text
}
