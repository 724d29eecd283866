package esxtop

// Form returns the form of the file's fields: esxtop itself quotes each and separates them with
// commas; a file saved by a spreadsheet has no quotes, or semicolons.
func (h *Header) Form() (quoted bool, separator byte) { return h.quoted, h.comma }
