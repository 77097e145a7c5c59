c Status:     INTEGER UNDEFINED
c
s mip 2 4 u 0
i 1 0
i 2 0
j 1 0
j 2 0
j 3 0
j 4 0
e o f
