package main

import (
	"github.com/spf13/cobra"

	"homenode/cmd/homenode/fix"
	"homenode/cmd/homenode/serve"
)

func newServe() *cobra.Command { return described("serve", serve.New()) }

func newFix() *cobra.Command { return described("fix", fix.New()) }

func newRecord() *cobra.Command { return described("record", serve.NewRecord()) }
