solution status: optimal solution found
objective value:                              -10.625
w                                                   2 	(obj:-3)
