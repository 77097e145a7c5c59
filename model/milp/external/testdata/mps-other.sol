optimal
w 1
