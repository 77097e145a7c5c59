solution status: optimal solution found
objective value:                              -10.625
x                                                   2 	(obj:-3)
y_1_                                                1 	(obj:-2)
z                                                0.25 	(obj:-0.5)
constant                                            1 	(obj:-2.5)
