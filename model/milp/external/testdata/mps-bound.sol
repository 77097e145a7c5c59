feasible
bound -11
x 2
y_1_ 1
z 0.25
constant 1
