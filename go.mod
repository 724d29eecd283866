module homenode

go 1.26
