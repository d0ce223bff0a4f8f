module example.org/atelier

go 1.26
