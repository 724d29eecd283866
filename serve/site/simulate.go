package site

func showSimulate(x *request) (*view, error) { return nil, nil }
func showCaptures(x *request) (*view, error) { return nil, nil }
