package esxtop

// swift reads rows in the form that esxtop writes.
type swift struct{}

func newSwift(h *Header, end byte) *swift { return &swift{} }

func (s *swift) row(data []byte, out *output) (size int, ok bool) { return 0, false }
