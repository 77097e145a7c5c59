c Problem:    mknapsack
c Rows:       2
c Columns:    4
c Non-zeros:  5
c Status:     INTEGER OPTIMAL
c Objective:  obj = -10.625 (MINimum)
c
s mip 2 4 o -10.625
i 1 7.25
i 2 3
j 1 2
j 2 1
j 3 0.25
