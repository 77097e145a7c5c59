Infeasible - objective value -12.50000000
      0 x                      2             -0.33333333
      1 y_1_                   2                       0
      2 z                      0              0.33333333
      3 constant               1                       0
