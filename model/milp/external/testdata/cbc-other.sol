Optimal - objective value -10.62500000
      0 w                      2                      -3
