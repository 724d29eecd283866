package machine

import "os"

func read() (*Machine, error) { return linux(os.DirFS("/"), leaves()) }
