s mip 2 3 o -5.5
j 1 1
j 2 0
j 3 0
e o f
