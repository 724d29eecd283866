package esxtop

// Form returns how the fields of the file are written: esxtop itself puts every one in
// quotes and a comma between them; what a spreadsheet has saved does not, or has
// semicolons.
func (h *Header) Form() (quoted bool, separator byte) { return h.quoted, h.comma }
