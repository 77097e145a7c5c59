# Solution for model mknapsack
# Objective value = -1.0625000000000000e+01
x 2
y_1_ 1
z 2.5e-01
constant 1
