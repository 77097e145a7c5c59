# Solution for model mknapsack
# Objective value = -5.5
x 1
y_1_ 0
z 0
constant 1
