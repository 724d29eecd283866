// Package schema has the JSON Schemas of answers, which the API of serve names. Their files are generated from the types of the answers.
package schema

import "embed"

// Files has a file NAME.json for each format of answers.
//
//go:embed *.json
var Files embed.FS
