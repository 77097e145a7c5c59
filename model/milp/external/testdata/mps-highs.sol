Model status
Optimal

# Primal solution values
Feasible
Objective -10.625
# Columns 4
x 2
y_1_ 1
z 0.25
constant 1
# Rows 2
weight 7.25
some 3

# Dual solution values
None
