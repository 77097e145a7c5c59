module github.com/gapwise/gapwise

go 1.26
