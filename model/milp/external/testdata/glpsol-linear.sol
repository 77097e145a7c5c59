c Problem:    mknapsack
c Rows:       2
c Columns:    4
c Non-zeros:  5
c Status:     OPTIMAL
c Objective:  obj = -10.83333333 (MINimum)
c
s bas 2 4 f f -10.8333333333333
i 1 u 7.5 -0.666666666666667
i 2 b 3.16666666666667 0
j 1 u 2 -1.66666666666667
j 2 b 1.16666666666667 0
j 3 l 0 0.166666666666667
j 4 s 1 -2.5
e o f
