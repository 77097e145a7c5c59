c Problem:    mknapsack
c Rows:       2
c Columns:    4
c Non-zeros:  5
c Status:     INTEGER EMPTY
c Objective:  obj = 0 (MINimum)
c
s mip 2 4 n 0
i 1 0
i 2 0
j 1 0
j 2 0
j 3 0
j 4 0
e o f
