package site

func showCaptures(x *request) (*view, error) { return nil, nil }
