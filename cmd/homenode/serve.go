package main

import (
	"github.com/spf13/cobra"

	"homenode/cmd/homenode/fix"
	"homenode/cmd/homenode/measure"
	"homenode/cmd/homenode/move"
	"homenode/cmd/homenode/serve"
)

func newServe() *cobra.Command { return described("serve", serve.New()) }

func newMeasure() *cobra.Command { return described("measure", measure.New()) }

func newMove() *cobra.Command { return described("move", move.New()) }

func newFix() *cobra.Command { return described("fix", fix.New()) }

func newRecord() *cobra.Command { return described("record", serve.NewRecord()) }
