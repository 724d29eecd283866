package main

import (
	"github.com/spf13/cobra"

	"homenode/cmd/homenode/serve"
)

func newServe() *cobra.Command { return described("serve", serve.New()) }

func newRecord() *cobra.Command { return described("record", serve.NewRecord()) }
