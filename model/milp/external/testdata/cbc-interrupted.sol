Stopped on iterations - objective value -5.50000000
      0 x                      1                      -3
      3 constant               1                    -2.5
