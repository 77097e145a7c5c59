c Status:     INTEGER FEASIBLE
c
s mip 2 4 f -5.5
i 1 2
i 2 1
j 1 1
j 2 0
j 3 0
j 4 1
e o f
