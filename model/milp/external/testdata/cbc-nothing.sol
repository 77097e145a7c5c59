Stopped on time (no integer solution - continuous used) - objective value -10.83333333
      0 x                      2                      -3
      1 y_1_           1.1666667                       0
      3 constant               1                    -2.5
