Optimal - objective value -10.62500000
      0 x                      2                      -3
      1 y_1_                   1                      -2
      2 z                   0.25                    -0.5
      3 constant               1                    -2.5
